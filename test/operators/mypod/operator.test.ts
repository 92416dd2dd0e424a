/**
 * What MyPods promise their users beyond `test/conformance/mypod.test.ts`: what needs to see each request of the operator,
 * to restart it, or objects from before its webhooks.
 */
import t from 'tap'
import { event, namespace as namespaceType, pod } from '../../../src/api/builtin.ts'
import { createClient } from '../../../src/client/client.ts'
import { mypod, type MyPod } from '../../../src/operators/mypod/kind.ts'
import { clientFor, untilGone } from '../../support/devcluster-client.ts'
import { conditionOf, mypodNamed, namespace, startMyPodWorld } from '../../support/mypod-world.ts'
import { until } from '../../support/process.ts'

const mypodRules = { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: ['create', 'get', 'list', 'update', 'patch'] }

t.test('MyPods', async (t) => {
  const world = await startMyPodWorld(t, [{ name: 'only-mypods', token: 'only-mypods', rules: [mypodRules] }])
  const { cluster, client, podOf, mypodOf, untilPod, untilMyPod } = world

  // From before the webhooks: only they refuse this label.
  await client.create(mypod, mypodNamed('legacy', { podLabels: { creator: 'somebody' } }, { finalizers: ['example.com/hold'] }))
  let operator = await world.startOperator()

  /** Creates a MyPod and waits until its Pod runs and its status says so. */
  async function running(name: string, spec: Partial<MyPod['spec']> = {}) {
    await client.create(mypod, mypodNamed(name, spec))
    const object = await untilMyPod(name, 'is ready', (found) => conditionOf(found, 'Ready')?.status === 'True')
    return { object, live: (await podOf(name))! }
  }

  t.test('labels that are changed by hand are changed back; an image that something else rewrites is not fought over', async (t) => {
    const { live: before } = await running('drifting', { podLabels: { app: 'mine' } })
    const labels = { app: 'theirs', creator: null, foreign: 'stays' }
    const image = { op: 'replace', path: '/spec/containers/0/image', value: 'example.com/other:1' }
    await client.patch(pod, { namespace, name: 'drifting' }, [image], { type: 'json' })
    await client.patch(pod, { namespace, name: 'drifting' }, { metadata: { labels } })
    const after = await untilPod('drifting', 'is as it was', ({ metadata }) => metadata.labels?.['app'] === 'mine')
    t.equal(after.metadata.uid, before.metadata.uid)
    t.strictSame(after.metadata.labels, { app: 'mine', creator: 'mypod-controller', foreign: 'stays' })
    t.equal(after.spec?.containers[0]?.image, 'example.com/other:1')
  })

  t.test('who may not create Pods cannot change what the Pod is, but the rest of the object', async (t) => {
    const user = clientFor(t, cluster.connectionFor('only-mypods'))
    const key = { namespace, name: 'by-admin' }
    await running('by-admin')
    await t.rejects(user.patch(mypod, key, { spec: { podSpec: { hostNetwork: true } } }), {
      statusCode: 422,
      message: /cannot create resource "pods"/,
    })
    t.match(await user.patch(mypod, key, { metadata: { labels: { team: 'a' } } }), { metadata: { labels: { team: 'a' } } })
  })

  t.test('an object that is being deleted can lose its finalizer, though it would be refused now', async (t) => {
    const key = { namespace, name: 'legacy' }
    await untilPod('legacy', 'is there')
    await t.rejects(client.patch(mypod, key, { spec: { podAnnotations: { a: 'b' } } }), {
      message: /spec\.podLabels\[creator\]: Forbidden/,
    })
    await client.delete(mypod, key)
    t.ok((await mypodOf('legacy'))?.metadata.deletionTimestamp, 'the finalizer holds it')
    await client.delete(pod, key)
    await untilGone(client, pod, key)
    const before = await operator.reconciles()
    await client.patchStatus(mypod, key, { status: { podPhase: 'Touched' } })
    await until('it was reconciled', async () => (await operator.reconciles()) > before)
    t.equal(await podOf('legacy'), undefined, 'nothing is created for what goes away')
    await client.patch(mypod, key, { metadata: { finalizers: null } })
    await untilGone(client, mypod, key)
  })

  t.test('a name that is too long for a host name is warned about', async (t) => {
    const warnings: string[] = []
    const warned = createClient(cluster.connection, { onWarning: (text) => warnings.push(text) })
    t.teardown(() => warned.close())
    const name = 'n'.repeat(64)
    await warned.create(mypod, mypodNamed(name))
    t.strictSame(warnings, ["metadata.name: longer than 63 characters; the Pod's host name will be cut"])
    await untilPod(name, 'is there')
  })

  t.test('a namespace that is deleted takes all along, and nothing is created in it any more', async (t) => {
    await client.create(namespaceType, { metadata: { name: 'leaving' } })
    await client.create(mypod, mypodNamed('inside', {}, { namespace: 'leaving' }))
    await until('its Pod runs', async () => (await podOf('inside', 'leaving'))?.status?.phase === 'Running')
    await client.delete(namespaceType, { name: 'leaving' })
    await untilGone(client, namespaceType, { name: 'leaving' })
    t.equal(await podOf('inside', 'leaving'), undefined)
    t.equal(await mypodOf('inside', 'leaving'), undefined)
    t.ok(operator.isAlive())
  })

  t.test('reconciles that find everything right write nothing', async (t) => {
    const key = { namespace, name: 'steady' }
    await running('steady')
    await until('the event is written', async () =>
      (await client.list(event, { namespace })).items.find(
        ({ involvedObject }) => involvedObject.name === 'steady' && involvedObject.kind === 'MyPod',
      ),
    )
    const mark = world.mark()
    const { metadata } = (await podOf('steady'))!
    for (let round = 1; round <= 10; round += 1) {
      const before = await operator.reconciles()
      await client.patch(mypod, key, { metadata: { annotations: { round: String(round) } } })
      await until('it was reconciled', async () => (await operator.reconciles()) > before)
    }
    t.strictSame(world.writesSince(mark), [])
    t.equal((await podOf('steady'))!.metadata.resourceVersion, metadata.resourceVersion)
  })

  t.test('a restart of the operator changes nothing', async (t) => {
    await untilMyPod('steady', 'is ready', (found) => conditionOf(found, 'Ready')?.status === 'True')
    const { items: before } = await client.list(pod, { namespace })
    const { items: objects } = await client.list(mypod, { namespace })
    await operator.stop()
    const mark = world.mark()
    operator = await world.startOperator()
    await until('all have been reconciled', async () => (await operator.reconciles()) >= objects.length)
    t.strictSame(world.writesSince(mark), [])
    const versions = (list: typeof before | typeof objects) =>
      list.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion }))
    t.strictSame(versions((await client.list(pod, { namespace })).items), versions(before))
    t.strictSame(versions((await client.list(mypod, { namespace })).items), versions(objects))
  })

  t.test('the ClusterRole allows all that was needed', async (t) => {
    const inNamespacesThatGo = (request: string): boolean => request.includes('/namespaces/leaving/')
    t.strictSame(
      world.refusals().filter((request) => !inNamespacesThatGo(request)),
      [],
    )
  })
})
