/** Renders `config/default` with kubectl, and starts the process of its Deployment like a kubelet. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import type { Deployment } from '../../../src/api/builtin.ts'
import { configMap } from '../../../src/api/builtin.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import { podHost } from './pod-network.ts'
import { finished, kubectlPath, proreusCommand, repository, type Running } from '../process/process.ts'
import { until } from '../../../src/testing/until.ts'

export const installation = 'config/default'
export const operatorNamespace = 'proreus-system'
export const serviceAccountUser = `system:serviceaccount:${operatorNamespace}:proreus`

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** Returns the objects of a kustomization, in the order in which kubectl applies them. */
export async function rendered(folder: string): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await finished(kubectlPath ?? 'kubectl', ['kustomize', join(repository, folder)])
  if (code !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`)
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
}

/**
 * Writes a token, the CA from the ConfigMap `kube-root-ca.crt` and the namespace into `directory`. This folder replaces the volume that a
 * kubelet mounts for the ServiceAccount.
 */
export async function mountServiceAccount(client: Client, directory: string): Promise<void> {
  const rootCa = await until('the namespace has the root CA', () =>
    client.get(configMap, { namespace: operatorNamespace, name: 'kube-root-ca.crt' }).catch(() => undefined),
  )
  const { status } = (await client.raw(`/api/v1/namespaces/${operatorNamespace}/serviceaccounts/proreus/token`, {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
    contentType: 'application/json',
  })) as { status: { token: string } }
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'token'), status.token, { mode: 0o600 })
  writeFileSync(join(directory, 'ca.crt'), rootCa.data!['ca.crt']!)
  writeFileSync(join(directory, 'namespace'), operatorNamespace)
}

/** A running `proreus run` with the arguments and the environment of the Deployment. */
export interface OperatorPod extends Running {
  readonly address: string
  readonly webhookPort: number
  readonly probes: string
  readonly metrics: string
}

export interface OperatorPodOptions {
  readonly controlPlane: ControlPlane
  readonly deployment: Deployment
  readonly serviceAccountDir: string
  /** The working directory of the process. */
  readonly directory: string
}

/** Starts the process of the Deployment. Resolves when its log reports the start. The process is stopped at the end of the test. */
export async function startOperatorPod(t: Test, options: OperatorPodOptions): Promise<OperatorPod> {
  const { controlPlane, deployment, serviceAccountDir, directory } = options
  const host = await podHost(t, controlPlane)
  const [container] = deployment.spec!.template.spec!.containers
  const given = (container!.env ?? []).map(({ name, value, valueFrom }): [string, string] => {
    if (valueFrom === undefined) return [name, value ?? '']
    if (valueFrom.fieldRef?.fieldPath !== 'metadata.namespace')
      throw new Error(`${name}: this kubelet cannot do ${JSON.stringify(valueFrom)}`)
    return [name, deployment.metadata.namespace!]
  })
  mkdirSync(directory, { recursive: true })
  const running = host.start(proreusCommand([...container!.args!, ...host.args]), {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, ...host.env, ...Object.fromEntries(given) },
    serviceAccountDir,
  })
  t.teardown(() => running.stop('SIGKILL'))
  try {
    const ports = await until('proreus run has started', () => {
      if (running.child.exitCode !== null) throw new Error(`it ended with ${running.child.exitCode}`)
      return startedLine(running.output())
    })
    const { address } = host
    return {
      ...running,
      address,
      webhookPort: ports.webhookPort,
      probes: `http://${address}:${ports.probePort}`,
      metrics: `https://${address}:${ports.metricsPort}`,
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

interface EndpointSlice extends KubernetesObject {
  readonly addressType: string
  readonly endpoints: readonly { readonly addresses: readonly string[]; readonly conditions: { readonly ready: boolean } }[]
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: string }[]
}
const endpointSlice = resourceType<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
})

/** Makes this Pod the only endpoint of the Service for the webhooks. */
export async function routeTo(client: Client, { address, webhookPort }: OperatorPod): Promise<void> {
  const labels = { 'kubernetes.io/service-name': 'proreus-webhook', 'endpointslice.kubernetes.io/managed-by': 'the-test' }
  await client.apply(endpointSlice, {
    metadata: { namespace: operatorNamespace, name: 'proreus-webhook-of-the-test', labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'webhook', port: webhookPort, protocol: 'TCP' }],
  })
}
