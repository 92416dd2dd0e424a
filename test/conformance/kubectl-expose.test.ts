/** Tests of `kubectl expose`, and of the endpoints that kubectl shows. */
import t from 'tap'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

const namespace = 'conformance-expose'

t.test('a Deployment is exposed, and its Pods are the endpoints of the Service', needsKubectl, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string): Promise<string> => kubectl.ok(`${args} -n ${namespace}`)

  await run('create deployment web --image=nginx:1 --replicas=2')
  await run('rollout status deployment web --timeout=60s')
  t.equal(await run('expose deployment web --port=80 --target-port=8080'), 'service/web exposed\n')
  const ips = (await run('get pods -o jsonpath={.items[*].status.podIP}')).split(' ')
  t.equal(ips.length, 2)
  await until('kubectl describes both endpoints', async () => {
    const [, shown = ''] = /Endpoints: +(.+)/.exec(await run('describe service web')) ?? []
    return (
      shown.split(',').sort().join() ===
      ips
        .map((ip) => `${ip}:8080`)
        .sort()
        .join()
    )
  })
  t.match(await run('get endpointslices --no-headers'), /^web-\w+ +IPv4 +8080 +[0-9.]+,[0-9.]+ /)
  t.match(await run('describe endpointslices'), /Ready: +true/)
  await run('scale deployment web --replicas=0')
  await until('no endpoint remains', async () => /^web-\w+ +IPv4 +<unset> +<unset> /.test(await run('get endpointslices --no-headers')))
  t.match(await run('describe service web'), /^Endpoints: *$/m)
})
