import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import type { JsonObject } from '../../src/api/json.ts'
import { runCommand } from '../../src/cli/run.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { validateMyPod } from '../../src/operators/mypod/webhook.ts'
import { schemaOf, validateObject } from '../../src/schema/kind-schema.ts'
import { finished, kubectlPath, needsKubectl, repository } from '../support/process/process.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Record<string, string>
    readonly annotations?: Record<string, string>
  }
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[]
    readonly nonResourceURLs?: readonly string[]
    readonly resources?: readonly string[]
    readonly verbs: readonly string[]
    readonly resourceNames?: readonly string[]
  }[]
  readonly webhooks?: readonly {
    readonly clientConfig: { readonly service: { readonly name: string; readonly namespace: string; readonly port?: number } }
  }[]
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly replicas: number
    readonly selector: { readonly matchLabels: Record<string, string> }
    readonly strategy: JsonObject
    readonly template: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: PodSpec }
  }
}

interface PodSpec {
  readonly serviceAccountName: string
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: JsonObject
  readonly containers: readonly [Container]
  readonly volumes?: readonly JsonObject[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly livenessProbe: { readonly httpGet: { readonly port: string } }
  readonly readinessProbe: { readonly httpGet: { readonly port: string } }
  readonly resources: { readonly limits: JsonObject }
  readonly securityContext: JsonObject
  readonly volumeMounts?: readonly JsonObject[]
}

const config = join(repository, 'config')

function documents(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

function manifests(path: string): Manifest[] {
  return documents(readFileSync(join(config, path), 'utf8'))
}

async function rendered(folder: string): Promise<Manifest[]> {
  const { code, stdout, stderr } = await finished(kubectlPath ?? 'kubectl', ['kustomize', join(config, folder)])
  if (code !== 0) throw new Error(`kubectl kustomize config/${folder}: ${stderr}`)
  return documents(stdout)
}

function find(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
  return found
}

const operator = find(manifests('manager/deployment.yaml'), 'Deployment', 'proreus') as Deployment
const pod = operator.spec.template.spec
const [manager] = pod.containers

/**
 * This sample is the CronJob of `samples/cronjob-v1.yaml` in another API version. A kustomization cannot contain the same object twice, so
 * no kustomization names this sample.
 */
const secondVersion = 'samples/cronjob-v2.yaml'

t.test('every file that a kustomization names exists, and every manifest is named', async (t) => {
  const named = new Set<string>()
  for (const file of globSync('**/kustomization.yaml', { cwd: config })) {
    const {
      resources = [],
      components = [],
      patches = [],
    } = parse(readFileSync(join(config, file), 'utf8')) as Record<string, string[]> & { patches?: { path: string }[] }
    for (const entry of [...resources, ...components, ...patches.map(({ path }) => path)]) {
      const path = join(dirname(file), entry)
      named.add(path)
      const wanted = entry.endsWith('.yaml') ? path : join(path, 'kustomization.yaml')
      t.ok(existsSync(join(config, wanted)), `${file} names ${entry}`)
    }
  }
  const loose = globSync('*/**/*.yaml', { cwd: config }).filter(
    (path) => !path.endsWith('kustomization.yaml') && !path.startsWith('samples/invalid/') && path !== secondVersion,
  )
  t.strictSame(
    loose.filter((path) => !named.has(path)),
    [],
  )
})

t.test('the operator complies with the restricted Pod Security profile that its namespace enforces', async (t) => {
  t.equal(
    find(manifests('manager/namespace.yaml'), 'Namespace', 'proreus-system').metadata.labels?.['pod-security.kubernetes.io/enforce'],
    'restricted',
  )
  t.match(pod.securityContext, { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } })
  t.strictSame(manager.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  for (const forbidden of ['hostNetwork', 'hostPID', 'hostIPC', 'volumes', 'initContainers'])
    t.notOk(Object.hasOwn(pod, forbidden), forbidden)
  t.notOk(manager.ports.some((port) => 'hostPort' in port))
})

t.test('the Deployment matches the flags, probes and stop of the operator', async (t) => {
  const [command, ...flags] = manager.args
  t.equal(command, 'run')
  t.strictSame(runCommand().parseOptions(flags).unknown, [], 'proreus run accepts every flag')
  t.ok(
    manager.env.some(({ name }) => name === 'POD_NAMESPACE'),
    'its namespace is set',
  )
  const ports = Object.fromEntries(manager.ports.map(({ name, containerPort }) => [name, containerPort]))
  t.strictSame(ports, { webhook: 9443, metrics: 8443, probes: 8081 })
  t.ok(flags.includes(`--health-probe-bind-address=:${ports.probes}`))
  t.ok(flags.includes(`--metrics-bind-address=:${ports.metrics}`))
  t.strictSame([manager.livenessProbe.httpGet.port, manager.readinessProbe.httpGet.port], ['probes', 'probes'])
  t.equal(operator.spec.replicas, 1, 'each replica reconciles')
  t.strictSame(operator.spec.strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } })
  t.ok(pod.terminationGracePeriodSeconds >= 10 + 30 + 10, 'drain delay, drain deadline, and a margin')
  t.strictSame(Object.keys(manager.resources.limits), ['memory'], 'a CPU limit would become admission latency')
  const { version } = parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
  t.equal(manager.image, `proreus:${version}`)
})

t.test('names and labels of related objects agree', async (t) => {
  const [service] = manifests('webhook/service.yaml') as [
    Manifest & { spec: { selector: Record<string, string>; ports: { port: number; targetPort: string }[] } },
  ]
  t.strictSame(operator.spec.template.metadata.labels, operator.spec.selector.matchLabels)
  t.strictSame(service.spec.selector, operator.spec.template.metadata.labels)
  t.match(service.spec.ports, [{ port: 443, targetPort: 'webhook' }])
  for (const { webhooks = [] } of manifests('webhook/manifests.yaml')) {
    for (const { clientConfig } of webhooks) {
      t.match(clientConfig.service, { name: service.metadata.name, namespace: service.metadata.namespace })
      t.equal(clientConfig.service.port ?? 443, 443)
    }
  }
  const rbac = globSync('rbac/*.yaml', { cwd: config }).flatMap(manifests)
  t.ok(find(rbac, 'ServiceAccount', pod.serviceAccountName))
  for (const { roleRef, subjects } of rbac.filter(({ kind }) => kind.endsWith('Binding'))) {
    t.ok(find(rbac, roleRef!.kind, roleRef!.name))
    t.strictSame(subjects, [{ kind: 'ServiceAccount', name: pod.serviceAccountName, namespace: 'proreus-system' }])
  }
})

t.test('roles grant no wildcards and no escalation', async (t) => {
  const roles = globSync('rbac/*.yaml', { cwd: config })
    .flatMap(manifests)
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
  t.ok(roles.length >= 4)
  for (const { kind, metadata, rules = [] } of roles) {
    for (const { apiGroups = [], resources = [], nonResourceURLs = [], verbs, resourceNames } of rules) {
      const title = `${kind} ${metadata.name}: ${verbs.join()} ${[...resources, ...nonResourceURLs].join()}`
      t.notOk([...apiGroups, ...resources, ...nonResourceURLs, ...verbs].includes('*'), `${title}: no wildcard`)
      t.notOk(
        verbs.some((verb) => ['bind', 'escalate', 'impersonate'].includes(verb)),
        `${title}: no escalation`,
      )
      if (resources.includes('secrets') && verbs.join() !== 'create')
        t.strictSame(resourceNames, ['proreus-webhook-ca'], `${title}: one Secret`)
      if (resources.includes('secrets')) t.equal(metadata.namespace, 'proreus-system', `${title}: in its own namespace`)
    }
  }
})

t.test('config/default renders in an order that one `kubectl create` accepts', needsKubectl, async (t) => {
  const kinds = (await rendered('default')).map(({ kind }) => kind)
  t.equal(kinds[0], 'Namespace')
  t.ok(kinds.indexOf('CustomResourceDefinition') < kinds.indexOf('Deployment'))
  t.ok(kinds.lastIndexOf('Deployment') < kinds.findIndex((kind) => kind.endsWith('WebhookConfiguration')), 'webhooks last')
  t.notOk(kinds.includes('Secret'), 'no manifest has a key')
})

t.test('with cert-manager, the CA comes from its Certificate and the operator reads the mounted Secret', needsKubectl, async (t) => {
  const objects = await rendered('overlays/cert-manager')
  for (const [kind, name] of [
    ['MutatingWebhookConfiguration', 'proreus-mutating'],
    ['ValidatingWebhookConfiguration', 'proreus-validating'],
  ] as const) {
    t.equal(find(objects, kind, name).metadata.annotations?.['cert-manager.io/inject-ca-from'], 'proreus-system/proreus-ca')
  }
  for (const { kind, metadata } of objects)
    if (kind === 'CustomResourceDefinition')
      t.equal(metadata.annotations?.['cert-manager.io/inject-ca-from'], 'proreus-system/proreus-ca', metadata.name)
  const certificate = (name: string): Manifest & { spec: JsonObject } =>
    find(objects, 'Certificate', name) as Manifest & { spec: JsonObject }
  t.match(certificate('proreus-ca').spec, { isCA: true, issuerRef: { name: 'proreus-selfsigned' } })
  t.match(certificate('proreus-webhook').spec, {
    dnsNames: ['proreus-webhook.proreus-system.svc', 'proreus-webhook.proreus-system.svc.cluster.local'],
    issuerRef: { name: 'proreus-ca' },
  })
  const { containers, volumes, ...rest } = (find(objects, 'Deployment', 'proreus') as Deployment).spec.template.spec
  t.strictSame(containers[0].args, [...manager.args, '--cert-dir=/certs'])
  t.strictSame(runCommand().parseOptions(containers[0].args.slice(1)).unknown, [])
  t.strictSame(containers[0].volumeMounts, [{ name: 'certs', mountPath: '/certs', readOnly: true }])
  t.strictSame(volumes, [{ name: 'certs', secret: { secretName: certificate('proreus-webhook').spec.secretName, defaultMode: 0o440 } }])
  t.strictSame(rest.securityContext, { ...pod.securityContext, fsGroup: 65532 })
})

t.test('each invalid sample is found without a cluster', async (t) => {
  const schema = schemaOf(mypod)
  for (const file of globSync('samples/invalid/mypod-*.yaml', { cwd: config })) {
    const object = parse(readFileSync(join(config, file), 'utf8')) as JsonObject & MyPod
    t.equal(file, `samples/invalid/${object.metadata.name}.yaml`)
    t.equal(object.metadata.namespace, 'test-mypod')
    const { object: pruned, unknown } = schema.prune(object)
    const decoded = schema.default(pruned)
    const structure = validateObject(mypod, decoded)
    const faults = structure.length > 0 ? structure : validateMyPod(decoded as unknown as MyPod, undefined, { warn: () => undefined })
    t.ok(faults.length + unknown.length > 0, file)
  }
})
