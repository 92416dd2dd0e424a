import t from 'tap'
import { validatePodSpec } from '../../../../src/devcluster/resources/builtin/pod-validation.ts'

t.test('with hostNetwork, the host ports of all containers must equal their container ports', (t) => {
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
    return validatePodSpec(spec as never, 'spec').map(({ path }) => path)
  }
  t.strictSame(pathsOf(80, 80), [])
  t.strictSame(pathsOf(81, 80), ['spec.containers[0].ports[0].hostPort'])
  t.strictSame(pathsOf(80, 81), ['spec.initContainers[0].ports[0].hostPort'])
  t.end()
})
