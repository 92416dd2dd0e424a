/** Tests of `kubectl rollout` and `kubectl scale` with Deployments. */
import t from 'tap'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const namespace = 'conformance-rollout'

t.test('a Deployment is rolled out, undone, restarted and scaled', needsKubectl, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string): Promise<string> => kubectl.ok(`${args} -n ${namespace}`)
  const image = (): Promise<string> => run('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}')
  const status = async (): Promise<string> => (await run('rollout status deployment web --timeout=60s')).trim().split('\n').at(-1)!
  const rolledOut = 'deployment "web" successfully rolled out'

  await run('create deployment web --image=nginx:1 --replicas=2')
  t.equal(await status(), rolledOut)
  await run('annotate deployment web kubernetes.io/change-cause=first')
  await run('set image deployment/web nginx=nginx:2')
  t.equal(await status(), rolledOut)
  await run('annotate deployment web kubernetes.io/change-cause=second')
  await until('the ReplicaSets have the causes', async () => /1 +first\n2 +second/.test(await run('rollout history deployment web')))
  t.match(await run('rollout history deployment web --revision=1'), /Image:\s+nginx:1/)

  t.equal(await run('rollout undo deployment web'), 'deployment.apps/web rolled back\n')
  t.equal(await status(), rolledOut)
  t.equal(await image(), 'nginx:1')
  await until('the first revision is the third one', async () => /^2 +second\n3 +first$/m.test(await run('rollout history deployment web')))

  await run('rollout pause deployment web')
  await run('set image deployment/web nginx=nginx:3')
  await run('scale deployment web --replicas=3')
  t.match(await run('wait deployment web --for=jsonpath={.status.availableReplicas}=3 --timeout=60s'), /condition met/)
  t.equal((await run('get replicasets -o name')).trim().split('\n').length, 2)
  await run('rollout resume deployment web')
  t.equal(await status(), rolledOut)
  t.equal((await run('get replicasets -o name')).trim().split('\n').length, 3)

  await run('rollout restart deployment web')
  t.equal(await status(), rolledOut)
  t.match(await run('wait deployment web --for=condition=Available --timeout=60s'), /condition met/)
  t.match(await run('get deployment web --no-headers'), /^web +3\/3 +3 +3 /)
  t.match(await run('describe deployment web'), /NewReplicaSet: +web-\w+ \(3\/3 replicas created\)/)
})

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'main', image: 'nginx:1' }] } },
  },
}

t.test('a StatefulSet is rolled out, undone, restarted and scaled', needsKubectl, async (t) => {
  const statefulNamespace = `${namespace}-stateful`
  const controlPlane = await conformanceControlPlane(t, { namespaces: [statefulNamespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string, input?: string): Promise<string> => kubectl.ok(`${args} -n ${statefulNamespace}`, input)
  const image = (): Promise<string> => run('get statefulset db -o jsonpath={.spec.template.spec.containers[0].image}')
  const status = async (): Promise<string> => (await run('rollout status statefulset db --timeout=60s')).trim().split('\n').at(-1)!

  await run('apply -f -', JSON.stringify(statefulSet))
  t.match(await status(), /^partitioned roll out complete: 2 new pods have been updated\.\.\.$/)
  await run('set image statefulset/db main=nginx:2')
  t.match(await status(), /2 new pods/)
  await until('there are two revisions', async () => /^1 .*\n2 /m.test(await run('rollout history statefulset db')))
  t.match(await run('rollout history statefulset db --revision=1'), /Image:\s+nginx:1/)

  t.equal(await run('rollout undo statefulset db'), 'statefulset.apps/db rolled back\n')
  t.match(await status(), /2 new pods/)
  t.equal(await image(), 'nginx:1')
  await until('the first revision is the third one', async () => /^2 .*\n3 /m.test(await run('rollout history statefulset db')))
  t.match(await run('get controllerrevisions'), /^NAME +CONTROLLER +REVISION +AGE\ndb-\w+ +statefulset\.apps\/db +[23] /)

  await run('rollout restart statefulset db')
  t.match(await status(), /2 new pods/)
  await run('scale statefulset db --replicas=1')
  t.match(await run('wait statefulset db --for=jsonpath={.status.replicas}=1 --timeout=60s'), /condition met/)
  t.match(await run('get statefulset db --no-headers'), /^db +1\/1 /)
  t.match(await run('describe statefulset db'), /Pods Status: +1 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed/)
})

t.test('a DaemonSet is rolled out, undone and restarted', needsKubectl, async (t) => {
  const daemonNamespace = `${namespace}-daemon`
  const controlPlane = await conformanceControlPlane(t, { namespaces: [daemonNamespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string, input?: string): Promise<string> => kubectl.ok(`${args} -n ${daemonNamespace}`, input)
  const status = async (): Promise<string> => (await run('rollout status daemonset agent --timeout=60s')).trim().split('\n').at(-1)!
  const rolledOut = 'daemon set "agent" successfully rolled out'
  const { replicas: _replicas, ...spec } = statefulSet.spec

  await run('apply -f -', JSON.stringify({ ...statefulSet, kind: 'DaemonSet', metadata: { name: 'agent' }, spec }))
  t.equal(await status(), rolledOut)
  await run('set image daemonset/agent main=nginx:2')
  t.equal(await status(), rolledOut)
  await until('there are two revisions', async () => /^1 .*\n2 /m.test(await run('rollout history daemonset agent')))
  t.match(await run('rollout history daemonset agent --revision=1'), /Image:\s+nginx:1/)
  t.equal(await run('rollout undo daemonset agent'), 'daemonset.apps/agent rolled back\n')
  t.equal(await status(), rolledOut)
  t.equal(await run('get daemonset agent -o jsonpath={.spec.template.spec.containers[0].image}'), 'nginx:1')
  await until('the first revision is the third one', async () => /^2 .*\n3 /m.test(await run('rollout history daemonset agent')))
  await run('rollout restart daemonset agent')
  t.equal(await status(), rolledOut)
})
