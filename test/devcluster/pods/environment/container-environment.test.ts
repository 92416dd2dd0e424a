import t from 'tap'
import { containerEnvironment } from '../../../../src/devcluster/pods/environment/container-environment.ts'
import { containerWith, FakeSources, podWith } from '../../../support/pods/fake-sources.ts'

function sourcesWithObjects(): FakeSources {
  const sources = new FakeSources()
  sources.setConfigMap('settings', { level: 'debug', 'a.b-c': 'odd', COMMON: 'map' })
  sources.setSecret('login', { user: 'ada', password: 'p$(level)', COMMON: 'secret' })
  return sources
}

async function variablesOf(
  container: object,
  { pod = podWith({ enableServiceLinks: false }), sources = sourcesWithObjects() } = {},
): Promise<object> {
  return Object.fromEntries(await containerEnvironment(pod, containerWith(container), sources))
}

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables. */
t.test('env and envFrom', async (t) => {
  const from = (kind: 'configMapRef' | 'secretRef', name: string, rest: object = {}): object => ({ [kind]: { name }, ...rest })
  const key = (kind: 'configMapKeyRef' | 'secretKeyRef', name: string, key: string, rest: object = {}): object => ({
    valueFrom: { [kind]: { name, key, ...rest } },
  })
  const facts: readonly { readonly title: string; readonly container: object; readonly variables: object }[] = [
    { title: 'nothing', container: {}, variables: {} },
    { title: 'a variable without a value is empty', container: { env: [{ name: 'A' }] }, variables: { A: '' } },
    {
      title: 'all keys of a ConfigMap, also those that no shell can read',
      container: { envFrom: [from('configMapRef', 'settings')] },
      variables: { level: 'debug', 'a.b-c': 'odd', COMMON: 'map' },
    },
    {
      title: 'a prefix, and the later source overrides the earlier one',
      container: { envFrom: [from('configMapRef', 'settings', { prefix: 'P_' }), from('secretRef', 'login', { prefix: 'P_' })] },
      variables: { P_level: 'debug', 'P_a.b-c': 'odd', P_COMMON: 'secret', P_user: 'ada', P_password: 'p$(level)' },
    },
    {
      title: 'env overrides envFrom, and the later of two entries wins',
      container: {
        envFrom: [from('configMapRef', 'settings')],
        env: [
          { name: 'COMMON', value: 'own' },
          { name: 'level', value: 'x' },
          { name: 'level', value: 'y' },
        ],
      },
      variables: { level: 'y', 'a.b-c': 'odd', COMMON: 'own' },
    },
    {
      title: 'references see envFrom and the earlier variables only, and only `value` is expanded',
      container: {
        envFrom: [from('configMapRef', 'settings')],
        env: [
          { name: 'FIRST', value: '$(level)+$(LATER)' },
          { name: 'LATER', value: '$(FIRST)' },
          { name: 'RAW', ...key('secretKeyRef', 'login', 'password') },
        ],
      },
      variables: { level: 'debug', 'a.b-c': 'odd', COMMON: 'map', FIRST: 'debug+$(LATER)', LATER: 'debug+$(LATER)', RAW: 'p$(level)' },
    },
    {
      title: 'optional objects and keys that are missing',
      container: {
        envFrom: [{ configMapRef: { name: 'gone', optional: true } }, { secretRef: { name: 'gone', optional: true } }],
        env: [
          { name: 'A', ...key('configMapKeyRef', 'gone', 'x', { optional: true }) },
          { name: 'B', ...key('secretKeyRef', 'gone', 'x', { optional: true }) },
          { name: 'C', ...key('configMapKeyRef', 'settings', 'gone', { optional: true }) },
          { name: 'D', ...key('secretKeyRef', 'login', 'gone', { optional: true }) },
          { name: 'E', ...key('configMapKeyRef', 'settings', 'level', { optional: true }) },
        ],
      },
      variables: { E: 'debug' },
    },
    {
      title: 'names that objects inherit are keys like any other',
      container: {
        env: [
          { name: '__proto__', value: 'x' },
          { name: 'A', ...key('configMapKeyRef', 'settings', 'constructor', { optional: true }) },
        ],
      },
      variables: Object.fromEntries([['__proto__', 'x']]),
    },
  ]
  for (const { title, container, variables } of facts) t.strictSame(await variablesOf(container), variables, title)
})

t.test('configuration errors have the words of the kubelet', async (t) => {
  const one = (valueFrom: object): object => ({ env: [{ name: 'A', valueFrom }] })
  const facts: readonly (readonly [container: object, message: string])[] = [
    [{ envFrom: [{ configMapRef: { name: 'gone' } }] }, 'configmap "gone" not found'],
    [{ envFrom: [{ secretRef: { name: 'gone' } }] }, 'secret "gone" not found'],
    [one({ configMapKeyRef: { name: 'gone', key: 'k' } }), 'configmap "gone" not found'],
    [one({ secretKeyRef: { name: 'gone', key: 'k' } }), 'secret "gone" not found'],
    [one({ configMapKeyRef: { name: 'settings', key: 'k' } }), "couldn't find key k in ConfigMap ns/settings"],
    [one({ configMapKeyRef: { name: 'settings', key: '__proto__' } }), "couldn't find key __proto__ in ConfigMap ns/settings"],
    [one({ secretKeyRef: { name: 'login', key: 'k' } }), "couldn't find key k in Secret ns/login"],
    [one({ fieldRef: { fieldPath: 'spec.hostname' } }), 'field label not supported: spec.hostname'],
    [one({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } }), 'unsupported pod version: v2'],
    [one({ fieldRef: { fieldPath: "spec.nodeName['x']" } }), "field label does not support subscript: spec.nodeName['x']"],
    [one({ fieldRef: { fieldPath: 'status.phase' } }), 'unsupported fieldPath: status.phase'],
    [one({ resourceFieldRef: { containerName: 'gone', resource: 'limits.cpu' } }), 'container gone not found'],
    [one({ resourceFieldRef: { resource: 'limits.pods' } }), 'unsupported container resource : limits.pods'],
    [
      one({ fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } }),
      'fileKeyRef to the volume "v" is not supported for Pods that run as processes. Use configMapKeyRef or secretKeyRef.',
    ],
  ]
  for (const [container, message] of facts)
    await t.rejects(variablesOf(container), { reason: 'CreateContainerConfigError', message }, message)
  const sources = new FakeSources()
  sources.failure = new Error('the server is down')
  await t.rejects(variablesOf({}, { sources }), { message: 'the server is down', cause: sources.failure })
})

t.test('each object is read once', async (t) => {
  const sources = sourcesWithObjects()
  const ref = { configMapKeyRef: { name: 'settings', key: 'level' } }
  await variablesOf(
    { env: ['A', 'B'].map((name) => ({ name, valueFrom: ref })), envFrom: [{ configMapRef: { name: 'settings' } }] },
    { sources },
  )
  t.strictSame(sources.reads, ['configMap ns/settings'])
})

t.test('variables that would fill the memory are refused', async (t) => {
  const sources = new FakeSources()
  sources.setSecret('large', { key: 'x'.repeat(700_000) })
  const error = { reason: 'RunContainerError', message: 'exec: argument list too long' }
  const envFrom = Array.from({ length: 10_000 }, (_, index) => ({ prefix: `P${index}`, secretRef: { name: 'large' } }))
  await t.rejects(variablesOf({ envFrom }, { sources }), error)
  const doubled = Array.from({ length: 60 }, (_, index) => ({
    name: `A${index}`,
    value: index === 0 ? 'xx' : `$(A${index - 1})$(A${index - 1})`,
  }))
  await t.rejects(variablesOf({ env: doubled }), error)
})

/**
 * The expected results are those of k8s.io/kubernetes/pkg/kubelet: podFieldSelectorRuntimeValue, and of pkg/fieldpath:
 * ExtractFieldPathAsString.
 */
t.test('fields of the Pod', async (t) => {
  const pod = podWith(
    { enableServiceLinks: false },
    { labels: { b: '2', a: 'say "hi"\n' }, annotations: { 'x.example.com/Upper': 'yes' } },
    { podIPs: [{ ip: '10.244.0.7' }, { ip: 'fd00::7' }], hostIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
  )
  const facts: Readonly<Record<string, string>> = {
    'metadata.name': 'web',
    'metadata.namespace': 'ns',
    'metadata.uid': '11111111-2222-3333-4444-555555555555',
    'metadata.labels': 'a="say \\"hi\\"\\n"\nb="2"',
    'metadata.annotations': 'x.example.com/Upper="yes"',
    "metadata.labels['b']": '2',
    "metadata.labels['gone']": '',
    "metadata.labels['constructor']": '',
    "metadata.annotations['x.example.com/Upper']": 'yes',
    'spec.nodeName': 'node-1',
    'spec.host': 'node-1',
    'spec.serviceAccountName': 'robot',
    'status.hostIP': '10.0.0.1',
    'status.hostIPs': '10.0.0.1,fd00::1',
    'status.podIP': '10.244.0.7',
    'status.podIPs': '10.244.0.7,fd00::7',
  }
  const env = Object.keys(facts).map((fieldPath, index) => ({ name: `V${index}`, valueFrom: { fieldRef: { fieldPath } } }))
  t.strictSame(Object.values(await variablesOf({ env }, { pod })), Object.values(facts))
  const place = { hostIPs: ['1.1.1.1'], podIPs: ['2.2.2.2'] }
  const early = await containerEnvironment(
    podWith({}, {}, { podIP: undefined, podIPs: undefined }),
    containerWith({ env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] }),
    new FakeSources(),
    place,
  )
  t.equal(early.get('IP'), '2.2.2.2')
})

/**
 * The expected results are those of k8s.io/kubernetes/pkg/api/v1/resource: ExtractContainerResourceValue, and of pkg/kubelet:
 * defaultPodLimitsForDownwardAPI.
 */
t.test('resources of containers', async (t) => {
  const resources = {
    limits: { cpu: '57m', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    requests: { cpu: '1500m', memory: '100M', 'ephemeral-storage': '1k' },
  }
  const others = { containers: [containerWith({ resources })], initContainers: [{ name: 'init' }] }
  const place = { hostIPs: [], podIPs: [], allocatable: { cpu: '8', memory: '16Gi', 'ephemeral-storage': '1Ti', pods: '110' } }
  const valueOf = async (container: object, ref: object, spec: object = others): Promise<string | undefined> => {
    const env = [{ name: 'A', valueFrom: { resourceFieldRef: ref } }]
    return (await containerEnvironment(podWith(spec), containerWith({ ...container, env }), new FakeSources(), place)).get('A')
  }
  const facts: readonly (readonly [ref: object, value: string])[] = [
    [{ resource: 'limits.cpu' }, '1'],
    [{ resource: 'limits.cpu', divisor: '1m' }, '57'],
    [{ resource: 'limits.cpu', divisor: '0' }, '1'],
    [{ resource: 'requests.cpu' }, '2'],
    [{ resource: 'limits.memory' }, '1073741824'],
    [{ resource: 'limits.memory', divisor: '1Mi' }, '1024'],
    [{ resource: 'requests.memory', divisor: '1Mi' }, '96'],
    [{ resource: 'limits.ephemeral-storage', divisor: '1Gi' }, '1024'],
    [{ resource: 'requests.ephemeral-storage' }, '1000'],
    [{ resource: 'limits.hugepages-2Mi' }, '4194304'],
    [{ resource: 'requests.hugepages-2Mi' }, '0'],
    [{ containerName: 'main', resource: 'limits.cpu', divisor: '1m' }, '57'],
    [{ containerName: 'init', resource: 'limits.cpu' }, '0'],
  ]
  for (const [ref, value] of facts) t.equal(await valueOf({ resources }, ref), value, JSON.stringify(ref))
  t.equal(await valueOf({}, { resource: 'limits.cpu' }), '8', 'the limit of the node')
  t.equal(
    await valueOf({}, { resource: 'limits.cpu', divisor: '1m' }, { ...others, resources: { limits: { cpu: '2500m' } } }),
    '2500',
    'of the Pod',
  )
  const memoryFacts = { '1Pi': '1125899906842624', '0.1Pi': '112589990684263', '1001m': '2', '1e400': '9223372036854775807' }
  for (const [memory, value] of Object.entries(memoryFacts))
    t.equal(await valueOf({ resources: { limits: { memory } } }, { resource: 'limits.memory' }), value, memory)
  const cpu = { resource: 'limits.cpu', divisor: '1m' }
  t.equal(
    await valueOf({ resources: { limits: { cpu: '9m' } } }, cpu),
    '9',
    'no error of floating-point numbers becomes another thousandth',
  )
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/envvars: FromServices, and of pkg/kubelet: getServiceEnvVarMap. */
t.test('variables of Services', async (t) => {
  const sources = new FakeSources()
  sources.addService('default', 'kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] })
  sources.addService('default', 'other', { clusterIP: '10.96.0.9', ports: [{ port: 1 }] })
  sources.addService('ns', 'my-db', { clusterIP: '10.96.0.2', ports: [{ port: 53, name: 'dns-udp', protocol: 'UDP' }, { port: 80 }] })
  sources.addService('ns', 'six', { clusterIP: 'fd00::1', ports: [{ port: 80 }] })
  sources.addService('ns', 'headless', { clusterIP: 'None', ports: [{ port: 80 }] })
  sources.addService('ns', 'external', { type: 'ExternalName', externalName: 'example.com' })
  sources.addService('ns', 'portless', { clusterIP: '10.96.0.3' })
  const master = {
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    KUBERNETES_SERVICE_PORT_HTTPS: '443',
    KUBERNETES_PORT: 'tcp://10.96.0.1:443',
    KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
    KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
    KUBERNETES_PORT_443_TCP_PORT: '443',
    KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
  }
  t.strictSame(await variablesOf({}, { sources }), master)
  const all = {
    ...master,
    MY_DB_SERVICE_HOST: '10.96.0.2',
    MY_DB_SERVICE_PORT: '53',
    MY_DB_SERVICE_PORT_DNS_UDP: '53',
    MY_DB_PORT: 'udp://10.96.0.2:53',
    MY_DB_PORT_53_UDP: 'udp://10.96.0.2:53',
    MY_DB_PORT_53_UDP_PROTO: 'udp',
    MY_DB_PORT_53_UDP_PORT: '53',
    MY_DB_PORT_53_UDP_ADDR: '10.96.0.2',
    MY_DB_PORT_80_TCP: 'tcp://10.96.0.2:80',
    MY_DB_PORT_80_TCP_PROTO: 'tcp',
    MY_DB_PORT_80_TCP_PORT: '80',
    MY_DB_PORT_80_TCP_ADDR: '10.96.0.2',
    SIX_SERVICE_HOST: 'fd00::1',
    SIX_SERVICE_PORT: '80',
    SIX_PORT: 'tcp://[fd00::1]:80',
    SIX_PORT_80_TCP: 'tcp://[fd00::1]:80',
    SIX_PORT_80_TCP_PROTO: 'tcp',
    SIX_PORT_80_TCP_PORT: '80',
    SIX_PORT_80_TCP_ADDR: 'fd00::1',
  }
  t.strictSame(await variablesOf({}, { sources, pod: podWith() }), all)
  const overridden = await variablesOf({ env: [{ name: 'SIX_PORT', value: '$(MY_DB_SERVICE_HOST)' }] }, { sources, pod: podWith() })
  t.strictSame(overridden, { ...all, SIX_PORT: '10.96.0.2' }, 'a variable of the container wins, and references see Services')
  sources.addService('ns', 'kubernetes', { clusterIP: 'None', ports: [{ port: 1 }] })
  t.match(await variablesOf({}, { sources, pod: podWith() }), master, 'a headless Service of the same name replaces nothing')
  sources.addService('ns', 'kubernetes', { clusterIP: '10.96.0.8', ports: [{ port: 1 }] })
  t.match(await variablesOf({}, { sources, pod: podWith() }), { KUBERNETES_SERVICE_HOST: '10.96.0.8' }, 'the own namespace wins')
})
