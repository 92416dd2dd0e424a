import t from 'tap'
import { validatePodSpec } from '../../../../src/devcluster/resources/builtin/pod-validation.ts'

t.test('with hostNetwork, the host ports of containers must equal their container ports', (t) => {
  const container = (name: string, hostPort: number): object => ({
    name,
    image: 'x',
    imagePullPolicy: 'Always',
    terminationMessagePolicy: 'File',
    ports: [{ containerPort: 80, hostPort, protocol: 'TCP' }],
  })
  const pathsOf = (main: number, init: number): string[] => {
    const spec = {
      hostNetwork: true,
      restartPolicy: 'Always',
      dnsPolicy: 'Default',
      containers: [container('a', main)],
      initContainers: [container('b', init)],
    }
    return validatePodSpec(spec as never, 'spec', 'x').map(({ path }) => path)
  }
  t.strictSame(pathsOf(80, 80), [])
  t.strictSame(pathsOf(81, 80), ['spec.containers[0].ports[0].hostPort'])
  t.strictSame(pathsOf(80, 81), [])
  t.end()
})

t.test('of several sources of a volume, the first in the order of kube-apiserver is the right one', (t) => {
  const order = ['emptyDir', 'hostPath', 'secret', 'persistentVolumeClaim', 'downwardAPI', 'configMap', 'projected']
  const required: Readonly<Record<string, string>> = {
    secret: 'secretName',
    configMap: 'name',
    hostPath: 'path',
    persistentVolumeClaim: 'claimName',
  }
  // If the second source of a volume is `downwardAPI`, kube-apiserver's error message contains the misspelled name `downwarAPI`.
  const nameOf = (source: string): string => (source === 'downwardAPI' ? 'downwarAPI' : source)
  const container = { name: 'a', image: 'x', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }
  const textsOf = (volume: object): string[] => {
    const spec = { restartPolicy: 'Always', dnsPolicy: 'Default', containers: [container], volumes: [volume] }
    return validatePodSpec(spec as never, 'spec', 'x').map(({ path, message }) => `${path}: ${message}`)
  }
  for (const [index, first] of order.entries()) {
    const field = required[first]
    for (const second of order.slice(index + 1)) {
      t.strictSame(textsOf({ name: 'v', [second]: {}, [first]: {} }), [
        ...(field === undefined ? [] : [`spec.volumes[0].${first}.${field}: Required value`]),
        `spec.volumes[0].${nameOf(second)}: Forbidden: may not specify more than 1 volume type`,
      ])
    }
    if (field !== undefined) t.strictSame(textsOf({ name: 'v', [first]: { [field]: 'x' } }), [], first)
  }
  t.strictSame(textsOf({ name: 'v' }), ['spec.volumes[0]: Required value: must specify a volume type'])
  t.end()
})
