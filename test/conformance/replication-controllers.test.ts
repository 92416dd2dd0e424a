/** Tests of ReplicationControllers: their Pods, adoption, scale, deletion, and what kubectl does with them. */
import t from 'tap'
import { pod } from '../../src/api/builtin.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const labels = { app: 'web' }
const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] }
const template = { metadata: { labels }, spec }
const namespaces = ['life', 'failure', 'orphans', 'kubectl', 'prune'].map((name) => `conformance-replication-${name}`)
const [life, failure, orphans, used, pruned] = namespaces as [string, string, string, string, string]

const controlPlane = await conformanceControlPlane(t, { namespaces })
const { client } = controlPlane

function untilReady(namespace: string, count: number): Promise<core.ReplicationController> {
  return until(`${count} Pods are ready`, async () => {
    const found = await client.get(core.replicationController, { namespace, name: 'web' })
    return (found.status?.readyReplicas ?? 0) === count && found.status?.replicas === count && found
  })
}

t.test('a ReplicationController adopts Pods and keeps as many as its spec says', async (t) => {
  const metadata = { namespace: life, name: 'web' }
  const orphan = await client.create(pod, { metadata: { namespace: life, name: 'orphan', labels }, spec })
  const created = await client.create(core.replicationController, { metadata, spec: { replicas: 2, template } })
  t.match(created, { metadata: { labels, generation: 1 }, spec: { selector: labels, replicas: 2 } })
  const ready = await untilReady(life, 2)
  t.strictSame(ready.status, { replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 })
  const reference = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web', uid: ready.metadata.uid, controller: true }
  t.match((await client.get(pod, orphan.metadata)).metadata.ownerReferences, [reference])
  await client.patch(core.replicationController, metadata, { spec: { replicas: 4 } }, { subresource: 'scale' })
  t.match(await untilReady(life, 4), { status: { observedGeneration: 2 } })
  for (const { metadata: owned } of (await client.list(pod, { namespace: life })).items)
    t.match(owned, { name: /^(?:orphan|web-[a-z0-9]{5})$/, ownerReferences: [reference] })

  await client.patch(pod, orphan.metadata, { metadata: { labels: { app: 'other' } } })
  await until('the Pod is released and replaced', async () => {
    const { items } = await client.list(pod, { namespace: life })
    return items.length === 5 && items.every((one) => one.metadata.name !== 'orphan' || one.metadata.ownerReferences === undefined)
  })
  const events = await until('the Events are there', async () => {
    const { items } = await client.list(core.event, { namespace: life })
    const own = items.filter(({ involvedObject }) => involvedObject.kind === 'ReplicationController')
    return own.length >= 4 && own
  })
  t.match(events[0], { reason: 'SuccessfulCreate', source: { component: 'replication-controller' }, involvedObject: { name: 'web' } })
})

t.test('a ReplicationController whose Pods are rejected has the condition ReplicaFailure', async (t) => {
  const refused = { ...template, spec: { ...spec, priorityClassName: 'missing' } }
  await client.create(core.replicationController, {
    metadata: { namespace: failure, name: 'web' },
    spec: { replicas: 1, template: refused },
  })
  const { status } = await until('the condition is there', async () => {
    const found = await client.get(core.replicationController, { namespace: failure, name: 'web' })
    return found.status?.conditions !== undefined && found
  })
  t.match(status?.conditions, [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: /no PriorityClass/ }])
})

t.test('a deleted ReplicationController leaves its Pods, unless the request says otherwise', async (t) => {
  const key = { namespace: orphans, name: 'web' }
  await client.create(core.replicationController, { metadata: key, spec: { replicas: 1, template } })
  await untilReady(orphans, 1)
  const [created] = (await client.list(pod, { namespace: orphans })).items
  await client.raw(`/api/v1/namespaces/${orphans}/replicationcontrollers/web`, { method: 'DELETE' })
  await until('the Pod has no owner', async () => (await client.get(pod, created!.metadata)).metadata.ownerReferences === undefined)
  await until('it can be created again', () =>
    client.create(core.replicationController, { metadata: key, spec: { replicas: 1, template } }),
  )
  await untilReady(orphans, 1)
  await client.delete(core.replicationController, key, { propagationPolicy: 'Foreground' })
  await t.resolves(until('the Pod is deleted', async () => (await client.list(pod, { namespace: orphans })).items.length === 0))
})

t.test('kubectl shows, scales and deletes ReplicationControllers', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string, input?: string): Promise<string> => kubectl.ok(`${args} -n ${used}`, input)
  const object = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'web' }, spec: { replicas: 1, template } }
  t.equal(await run('apply -f -', JSON.stringify(object)), 'replicationcontroller/web created\n')
  await untilReady(used, 1)
  t.match(
    await run('get rc -o wide'),
    /^NAME +DESIRED +CURRENT +READY +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +1 +1 +1 +\d+s +main +example.com\/app:1 +app=web\n$/,
  )
  t.match(await run('get all'), /^replicationcontroller\/web +1 +1 +1 +\d+s$/m)
  t.equal(await run('scale rc web --replicas=2'), 'replicationcontroller/web scaled\n')
  await untilReady(used, 2)
  t.match(await run('describe rc web'), /Replicas: +2 current \/ 2 desired\nPods Status: +2 Running/)
  t.equal(await run('expose rc web --port=80'), 'service/web exposed\n')
  t.equal(await run('delete rc web'), `replicationcontroller "web" deleted from ${used} namespace\n`)
  await until('its Pods are deleted', async () => (await client.list(pod, { namespace: used })).items.length === 0)

  const podTemplate = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'stored' }, template }
  t.equal(await run('create -f -', JSON.stringify(podTemplate)), 'podtemplate/stored created\n')
  t.equal(
    (await run('get podtemplates')).replaceAll(/ +/g, ' '),
    'NAME CONTAINERS IMAGES POD LABELS\nstored main example.com/app:1 app=web\n',
  )
})

t.test('kubectl apply --prune deletes what is no longer applied', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string, input?: string): Promise<string> => kubectl.ok(`${args} -n ${pruned}`, input)
  const own = (kind: string, name: string, more: object = {}): string =>
    JSON.stringify({ apiVersion: 'v1', kind, metadata: { name, labels: { set: 'one' } }, ...more })
  const controller = own('ReplicationController', 'web', { spec: { replicas: 0, template } })
  const prune = 'apply --prune -l set=one -f -'
  t.equal(await run(prune, `${own('ConfigMap', 'a')}\n${controller}`), 'configmap/a created\nreplicationcontroller/web created\n')
  t.equal(await run(prune, own('ConfigMap', 'a')), 'configmap/a unchanged\nreplicationcontroller/web pruned\n')
})
