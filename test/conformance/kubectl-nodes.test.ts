/** Tests of `kubectl cordon`, `uncordon`, `drain`, `taint` and `wait` with nodes. */
import t from 'tap'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const namespace = 'conformance-nodes'

t.test('nodes are cordoned, drained and tainted', { ...needsKubectl, ...needsOwnControlPlane }, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace], nodes: [{ name: 'n1' }, { name: 'n2' }] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string): Promise<string> => kubectl.ok(`${args} -n ${namespace}`)
  const nodesOf = async (): Promise<string[]> =>
    (await run('get pods -l app=web --field-selector status.phase=Running -o jsonpath={.items[*].spec.nodeName}')).split(' ').sort()

  t.match(await run('wait node --all --for=condition=Ready --timeout=30s'), /node\/n1 condition met\nnode\/n2 condition met/)
  t.equal(await run('cordon n2'), 'node/n2 cordoned\n')
  t.match(await run('get node n2 --no-headers'), /^n2 +Ready,SchedulingDisabled /)
  await run('create deployment web --image=nginx:1 --replicas=3')
  await run('rollout status deployment web --timeout=60s')
  t.strictSame(await nodesOf(), ['n1', 'n1', 'n1'])

  t.equal(await run('uncordon n2'), 'node/n2 uncordoned\n')
  await until('n2 has no taint', async () => (await run('get node n2 -o jsonpath={.spec.taints}')) === '')
  const drained = await run('drain n1 --timeout=60s')
  t.match(drained, /^node\/n1 cordoned\n/)
  t.match(drained, /node\/n1 drained\n$/)
  await run('rollout status deployment web --timeout=60s')
  t.strictSame(await nodesOf(), ['n2', 'n2', 'n2'])

  await run('uncordon n1')
  await until('n1 has no taint', async () => (await run('get node n1 -o jsonpath={.spec.taints}')) === '')
  await run('taint node n2 maintenance=true:NoExecute')
  await until('the Pods have moved', async () => (await nodesOf()).join() === 'n1,n1,n1')
  const events = await run('get events -o jsonpath={range.items[*]}{.reason}:{.involvedObject.kind}{"\\n"}{end}')
  t.match(events, /^TaintManagerEviction:Pod$/m)
  t.equal(await run('taint node n2 maintenance-'), 'node/n2 untainted\n')
})
