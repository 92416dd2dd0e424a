/** What MyPods promise their users, on an embedded cluster with everything real between the client and the reconciler. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { event, namespace as namespaceType, pod } from '../../../src/api/builtin.ts'
import type { ObjectInput } from '../../../src/api/object.ts'
import { createClient } from '../../../src/client/client.ts'
import { mypod, type MyPod } from '../../../src/operators/mypod/kind.ts'
import { clientFor, untilGone } from '../../support/devcluster-client.ts'
import { conditionOf, identityOf, mypodNamed, namespace, startMyPodWorld } from '../../support/mypod-world.ts'
import { repository, until } from '../../support/process.ts'

const seconds = 1000
/** The grace period that a Pod has by default. */
const grace = 30 * seconds

const mypodRules = { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: ['create', 'get', 'list', 'update', 'patch'] }

t.test('MyPods', async (t) => {
  const world = await startMyPodWorld(t, [
    { name: 'only-mypods', token: 'only-mypods', rules: [mypodRules] },
    { name: 'both', token: 'both', rules: [mypodRules, { apiGroups: [''], resources: ['pods'], verbs: ['create'] }] },
  ])
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

  t.test('the sample becomes a Pod with labels, annotations and an owner', async (t) => {
    const sample = parse(readFileSync(join(repository, 'config/samples/mypod.yaml'), 'utf8')) as ObjectInput<MyPod>
    const { metadata } = await client.create(mypod, sample)
    const live = await untilPod('mypod-sample', 'is there', undefined, 5 * seconds)
    t.strictSame(live.metadata.labels, { app: 'mypod', creator: 'mypod-controller' })
    t.match(live.metadata.annotations, { app: 'mypod' })
    t.strictSame(live.metadata.ownerReferences, [
      {
        apiVersion: 'harryyann.github.io/v1',
        kind: 'MyPod',
        name: 'mypod-sample',
        uid: metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    t.match(live.spec, sample.spec.podSpec)
  })

  t.test('the status is that of the Pod, and a table shows it', async (t) => {
    const live = await untilPod('mypod-sample', 'runs', ({ status }) => status?.phase === 'Running')
    const { status } = await untilMyPod('mypod-sample', 'runs', (found) => found.status?.podPhase === 'Running', 5 * seconds)
    t.match(status, {
      podPhase: 'Running',
      podIp: live.status!.podIP!,
      nodeIp: live.status!.hostIP!,
      createdTimestamp: Date.parse(live.metadata.creationTimestamp) / 1000,
      observedGeneration: 1,
    })
    const table = (await client.raw(`/apis/harryyann.github.io/v1/namespaces/${namespace}/mypods/mypod-sample`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    })) as { columnDefinitions: { name: string; priority: number }[]; rows: { cells: unknown[] }[] }
    t.strictSame(
      table.columnDefinitions.map(({ name, priority }) => [name, priority]),
      [
        ['Name', 0],
        ['Phase', 0],
        ['PodIp', 0],
        ['NodeIp', 1],
        ['Age', 0],
      ],
    )
    t.match(table.rows[0]!.cells, ['mypod-sample', 'Running', live.status!.podIP, live.status!.hostIP, /^\d+s$/])
  })

  t.test('without labels and annotations the Pod has the label of the operator alone', async (t) => {
    const { live } = await running('bare')
    t.strictSame(live.metadata.labels, { creator: 'mypod-controller' })
    t.strictSame(
      Object.keys(live.metadata.annotations ?? {}).filter((key) => !key.startsWith('mypod.harryyann.github.io/')),
      [],
    )
    t.ok(operator.isAlive())
  })

  t.test('changed labels reach the same Pod, and removed ones leave it', async (t) => {
    const { live: before } = await running('relabelled', { podLabels: { app: 'one', old: 'yes' }, podAnnotations: { note: 'first' } })
    await client.patch(pod, { namespace, name: 'relabelled' }, { metadata: { annotations: { 'cni.example.com/ip': 'foreign' } } })
    const spec = { podLabels: { app: 'two', old: null, new: 'yes' }, podAnnotations: null }
    await client.patch(mypod, { namespace, name: 'relabelled' }, { spec })
    const after = await untilPod('relabelled', 'has the new label', ({ metadata }) => metadata.labels?.['new'] === 'yes', 5 * seconds)
    t.equal(after.metadata.uid, before.metadata.uid)
    t.strictSame(after.metadata.labels, { app: 'two', new: 'yes', creator: 'mypod-controller' })
    t.notOk('note' in after.metadata.annotations!)
    t.equal(after.metadata.annotations!['cni.example.com/ip'], 'foreign', 'what others set stays')
  })

  t.test('a changed image reaches the same Pod', async (t) => {
    const { live: before } = await running('new-image')
    await client.patch(
      mypod,
      { namespace, name: 'new-image' },
      { spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:2' }] } } },
    )
    const after = await untilPod(
      'new-image',
      'has the new image',
      ({ spec }) => spec?.containers[0]?.image === 'example.com/pause:2',
      5 * seconds,
    )
    t.equal(after.metadata.uid, before.metadata.uid)
  })

  t.test('changed resources make a new Pod', async (t) => {
    const { live: before } = await running('new-limits')
    const resources = { limits: { cpu: '100m' } }
    await client.patch(
      mypod,
      { namespace, name: 'new-limits' },
      { spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:1', resources }] } } },
    )
    const after = await untilPod('new-limits', 'is a new one', ({ metadata }) => metadata.uid !== before.metadata.uid, grace + 10 * seconds)
    t.strictSame(after.spec?.containers[0]?.resources?.limits, { cpu: '100m' })
    const { items } = await client.list(pod, { namespace })
    t.equal(items.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === 'new-limits')).length, 1)
    await untilMyPod(
      'new-limits',
      'is ready again',
      (found) => conditionOf(found, 'Ready')?.status === 'True' && conditionOf(found, 'Progressing')?.status === 'False',
    )
  })

  t.test('a Pod that is deleted by hand comes back', async (t) => {
    const { live: before } = await running('deleted-by-hand')
    await client.delete(pod, { namespace, name: 'deleted-by-hand' })
    const after = await untilPod(
      'deleted-by-hand',
      'is a new one',
      ({ metadata }) => metadata.uid !== before.metadata.uid,
      grace + 10 * seconds,
    )
    t.strictSame(after.spec?.containers[0]?.image, 'example.com/pause:1')
  })

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

  t.test('a deleted MyPod takes its Pod along', async () => {
    await client.delete(mypod, { namespace, name: 'mypod-sample' })
    await untilGone(client, mypod, { namespace, name: 'mypod-sample' })
    await until('the Pod is gone', async () => (await podOf('mypod-sample')) === undefined, 40 * seconds)
  })

  t.test('with --cascade=orphan the Pod stays', async (t) => {
    const { live } = await running('orphaned')
    await client.delete(mypod, { namespace, name: 'orphaned' }, { propagationPolicy: 'Orphan' })
    await untilGone(client, mypod, { namespace, name: 'orphaned' })
    const after = (await podOf('orphaned'))!
    t.equal(after.metadata.uid, live.metadata.uid)
    t.equal(after.metadata.ownerReferences, undefined)
    t.equal(after.metadata.deletionTimestamp, undefined)
  })

  t.test('a Pod of that name that belongs to nobody is left alone until it is gone', async (t) => {
    const foreign = {
      metadata: { namespace, name: 'taken', labels: { of: 'somebody' } },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    }
    await client.create(pod, foreign)
    const before = await untilPod('taken', 'runs', ({ status }) => status?.phase === 'Running')
    await client.create(mypod, mypodNamed('taken'))
    const refused = await untilMyPod('taken', 'says so', (found) => conditionOf(found, 'Degraded')?.reason === 'NameConflict')
    t.match(conditionOf(refused, 'Ready'), { status: 'False', reason: 'NameConflict', message: /exists and does not belong to this MyPod/ })
    t.notOk('podPhase' in refused.status!, 'nothing of the foreign Pod is told')
    await until('there is a Warning', async () =>
      (await client.list(event, { namespace })).items.find(({ reason, type }) => reason === 'NameConflict' && type === 'Warning'),
    )
    t.strictSame(identityOf((await podOf('taken'))!), identityOf(before))
    await client.delete(pod, { namespace, name: 'taken' })
    const own = await untilPod('taken', 'is the own one', ({ metadata }) => metadata.labels?.['creator'] === 'mypod-controller')
    t.not(own.metadata.uid, before.metadata.uid)
    const healed = await untilMyPod('taken', 'is ready', (found) => conditionOf(found, 'Ready')?.status === 'True')
    t.equal(conditionOf(healed, 'Degraded')?.status, 'False')
  })

  t.test('ten at once have their Pods within ten seconds', async (t) => {
    const names = Array.from({ length: 10 }, (_, index) => `many-${index}`)
    await Promise.all(names.map((name) => client.create(mypod, mypodNamed(name))))
    const pods = await Promise.all(names.map((name) => untilPod(name, 'is there', undefined, 10 * seconds)))
    t.equal(new Set(pods.map(({ metadata }) => metadata.uid)).size, 10)
  })

  t.test('no containers: refused, with the path of the field', async (t) => {
    const refusal: unknown = await client
      .create(mypod, mypodNamed('empty', { podSpec: { containers: [] } }))
      .catch((error: unknown) => error)
    t.match(refusal, {
      statusCode: 422,
      reason: 'Invalid',
      causes: [{ field: 'spec.podSpec.containers', message: /should have at least 1 items/ }],
    })
    t.equal(await mypodOf('empty'), undefined)
  })

  t.test('who may create MyPods but no Pods is refused; who may both is not', async (t) => {
    const refused = mypodNamed('by-only-mypods')
    await t.rejects(clientFor(t, cluster.connectionFor('only-mypods')).create(mypod, refused), {
      statusCode: 422,
      message: `MyPod.harryyann.github.io "by-only-mypods" is invalid: spec.podSpec: Forbidden: user "only-mypods" cannot create resource "pods" in API group "" in the namespace "${namespace}", which a MyPod needs`,
    })
    t.equal(await mypodOf('by-only-mypods'), undefined)
    await clientFor(t, cluster.connectionFor('both')).create(mypod, mypodNamed('by-both'))
    await untilPod('by-both', 'is there')
  })

  t.test('who may not create Pods cannot change what the Pod is, but the rest of the object', async (t) => {
    const user = clientFor(t, cluster.connectionFor('only-mypods'))
    const key = { namespace, name: 'by-both' }
    await t.rejects(user.patch(mypod, key, { spec: { podSpec: { hostNetwork: true } } }), {
      statusCode: 422,
      message: /cannot create resource "pods"/,
    })
    t.match(await user.patch(mypod, key, { metadata: { labels: { team: 'a' } } }), { metadata: { labels: { team: 'a' } } })
  })

  t.test('a dry run is judged and creates nothing', async (t) => {
    t.match(await client.create(mypod, mypodNamed('dry'), { dryRun: true }), { metadata: { name: 'dry' } })
    await t.rejects(client.create(mypod, mypodNamed('dry', { podLabels: { creator: 'me' } }), { dryRun: true }), {
      message: /spec\.podLabels\[creator\]: Forbidden: the label is set by the operator/,
    })
    // Whatever came of the dry run came before this.
    await running('after-dry')
    t.equal(await mypodOf('dry'), undefined)
    const { items } = await client.list(pod, { namespace })
    t.strictSame(
      items.map(({ metadata }) => metadata.name).filter((name) => name === 'dry' || name.startsWith('mypod-check-')),
      [],
      'nor does the question what the API server thinks of the Pod',
    )
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

  t.test('a Pod that fits on no node: pending, without an address', async (t) => {
    await client.create(
      mypod,
      mypodNamed('nowhere', { podSpec: { nodeSelector: { project: 'none' }, containers: [{ name: 'main', image: 'x' }] } }),
    )
    const { status } = await untilMyPod(
      'nowhere',
      'is pending',
      (found) => found.status?.podPhase === 'Pending' && conditionOf(found, 'Ready')?.reason === 'PodPending',
    )
    t.notOk('podIp' in status!)
    t.notOk('nodeIp' in status!)
    const unschedulable = await untilPod(
      'nowhere',
      'is seen by the scheduler',
      (found) => found.status?.conditions?.some(({ reason }) => reason === 'Unschedulable') === true,
    )
    t.equal(unschedulable.status?.phase, 'Pending')
    t.equal((await mypodOf('nowhere'))?.status?.podPhase, 'Pending')
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
