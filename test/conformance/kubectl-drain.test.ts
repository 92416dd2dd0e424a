/** Tests of `kubectl drain`, which obeys PodDisruptionBudgets. */
import t from 'tap'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const namespace = 'conformance-drain'

t.test('a node is drained as far as the budget allows', { ...needsKubectl, ...needsOwnControlPlane }, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string): Promise<string> => kubectl.ok(`${args} -n ${namespace}`)

  await run('create deployment web --image=nginx:1 --replicas=3')
  await run('rollout status deployment web --timeout=60s')
  await run('create poddisruptionbudget web --selector=app=web --min-available=2')
  await until('the budget allows one disruption', async () => /^web +2 +N\/A +1 /m.test(await run('get pdb web --no-headers')))
  t.match(await run('describe pdb web'), /Allowed disruptions: +1\n +Current: +3\n +Desired: +2\n +Total: +3/)

  const nodes = (await run('get nodes -o name')).trim().split('\n')
  t.equal(nodes.length, 1)
  const node = nodes[0]!.replace('node/', '')
  const stopped = await kubectl(`drain ${node} --timeout=3s`)
  t.equal(stopped.code, 1)
  t.match(stopped.stdout, /pod\/web-\S+ evicted/)
  t.match(stopped.stderr, /\(will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./)
  t.match(await run(`get node ${node} --no-headers`), /SchedulingDisabled/)
  const pods = await run('get pods --no-headers')
  t.strictSame([pods.match(/Running/g)?.length, pods.match(/Pending/g)?.length], [2, 1])

  await run('delete pdb web')
  t.match(await run(`drain ${node} --timeout=60s`), /node\/\S+ drained\n$/)
  await run(`uncordon ${node}`)
  await run('rollout status deployment web --timeout=60s')
})
