/** `config/default` as kubectl renders it, and its Deployment's process as a kubelet would start it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Deployment } from '../../src/api/builtin.ts'
import { configMap } from '../../src/api/builtin.ts'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import type { Client } from '../../src/client/client.ts'
import type { DevCluster, DevClusterUser } from '../../src/devcluster/dev-cluster.ts'
import { finished, kubectlPath, repository, startProreus, until, type Running } from './process.ts'

export const operatorNamespace = 'proreus-system'
export const serviceAccountUser = `system:serviceaccount:${operatorNamespace}:proreus`

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly PolicyRule[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

/** The objects of a folder with a kustomization, in the order in which kubectl sends them. */
export async function rendered(folder: string): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await finished(kubectlPath ?? 'kubectl', ['kustomize', join(repository, folder)])
  if (code !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`)
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
}

/** The operator's service account as a user of an embedded cluster, allowed exactly what the manifests bind to it. */
export function serviceAccountOf(manifests: readonly Manifest[]): DevClusterUser {
  const rules: PolicyRule[] = []
  const namespaceRules: Record<string, PolicyRule[]> = {}
  for (const binding of manifests) {
    const isOurs = binding.subjects?.some(
      ({ kind, name, namespace }) => kind === 'ServiceAccount' && name === 'proreus' && namespace === operatorNamespace,
    )
    if (isOurs !== true) continue
    const { namespace } = binding.metadata
    const { roleRef } = binding
    const role = manifests.find(
      ({ kind, metadata }) =>
        kind === roleRef?.kind && metadata.name === roleRef.name && (kind === 'ClusterRole' || metadata.namespace === namespace),
    )
    if (role?.rules === undefined) throw new Error(`${binding.kind} ${binding.metadata.name} binds a role that is not there`)
    if (binding.kind === 'ClusterRoleBinding') rules.push(...role.rules)
    else (namespaceRules[namespace!] ??= []).push(...role.rules)
  }
  return {
    name: serviceAccountUser,
    token: 'the-token-of-the-service-account',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${operatorNamespace}`],
    rules,
    namespaceRules,
  }
}

/** What Kubernetes puts into a Pod: the variables that lead to the API server, and the mounted service account. */
export interface PodEnvironment {
  readonly env: Readonly<Record<string, string>>
  /** Stands for /var/run/secrets/kubernetes.io/serviceaccount. */
  readonly serviceAccountDir: string
}

/** Prepares `directory` as the service account's mount: its token, and the authority that Kubernetes puts into each namespace. */
export async function podEnvironment(cluster: DevCluster, client: Client, token: string, directory: string): Promise<PodEnvironment> {
  const rootCa = await until('the namespace has the root CA', () =>
    client.get(configMap, { namespace: operatorNamespace, name: 'kube-root-ca.crt' }).catch(() => undefined),
  )
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'token'), token, { mode: 0o600 })
  writeFileSync(join(directory, 'ca.crt'), rootCa.data!['ca.crt']!)
  writeFileSync(join(directory, 'namespace'), operatorNamespace)
  const { hostname, port } = new URL(cluster.url)
  return { env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }, serviceAccountDir: directory }
}

/** A running `proreus run` with the arguments and environment of the Deployment. */
export interface OperatorPod extends Running {
  readonly webhook: string
  readonly probes: string
  readonly metrics: string
}

/** Several Pods share this machine's ports, so each takes free ones. */
const ownAddresses = [
  '--webhook-host=127.0.0.1',
  '--webhook-port=0',
  '--health-probe-bind-address=127.0.0.1:0',
  '--metrics-bind-address=127.0.0.1:0',
]

/** Starts the Deployment's process in `directory`; resolves when it says that it has started. */
export async function startOperatorPod(deployment: Deployment, pod: PodEnvironment, directory: string): Promise<OperatorPod> {
  const [container] = deployment.spec!.template.spec!.containers
  const given = (container!.env ?? []).map(({ name, value, valueFrom }): [string, string] => {
    if (valueFrom === undefined) return [name, value ?? '']
    if (valueFrom.fieldRef?.fieldPath !== 'metadata.namespace')
      throw new Error(`${name}: this kubelet cannot do ${JSON.stringify(valueFrom)}`)
    return [name, deployment.metadata.namespace!]
  })
  mkdirSync(directory, { recursive: true })
  const running = startProreus([...container!.args!, ...ownAddresses], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, SERVICE_ACCOUNT_DIR: pod.serviceAccountDir, ...pod.env, ...Object.fromEntries(given) },
  })
  try {
    const ports = await until('proreus run has started', () => {
      if (running.child.exitCode !== null) throw new Error(`it ended with ${running.child.exitCode}`)
      return startedLine(running.output())
    })
    const at = (port: number): string => `127.0.0.1:${port}`
    return {
      ...running,
      webhook: `https://${at(ports.webhookPort)}`,
      probes: `http://${at(ports.probePort)}`,
      metrics: `http://${at(ports.metricsPort)}`,
    }
  } catch (error) {
    await running.stop('SIGKILL')
    throw new Error(`proreus run did not start: ${running.output()}`, { cause: error })
  }
}

interface StartedLine {
  readonly msg: string
  readonly webhookPort: number
  readonly probePort: number
  readonly metricsPort: number
}

function startedLine(output: string): StartedLine | undefined {
  const lines = output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as StartedLine).find(({ msg }) => msg === 'started')
}
