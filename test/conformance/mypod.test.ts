/**
 * Tests of the Pod that the operator creates for a MyPod, on every control plane. A prefix such as `A1` in the name of a test is the number
 * of an acceptance test.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { event, pod } from '../../src/api/builtin.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { conditionOf, grace, identityOf, mypodNamed, namespace, seconds, startMyPodWorld } from '../support/mypod/world.ts'
import { needsKubectl, repository } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'
import { needsRequests } from '../support/conformance/backends.ts'

t.test('MyPods', async (t) => {
  const { controlPlane, client, startOperator, running, refusals, podOf, untilPod, untilMyPod } = await startMyPodWorld(t)
  const operator = await startOperator()

  t.test('A1: the sample becomes a Pod with labels, annotations and an owner', async (t) => {
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

  t.test('A2: the status and the table row have the state of the Pod', async (t) => {
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

  t.test('A2: kubectl get prints the state', needsKubectl, async (t) => {
    const { status } = (await untilMyPod('mypod-sample', 'runs', (found) => found.status?.podPhase === 'Running'))!
    const kubectl = kubectlAs(t, controlPlane.kubeconfig)
    const [podIp, nodeIp] = [status!.podIp!, status!.nodeIp!].map((address) => address.replaceAll('.', '\\.'))
    t.match(
      await kubectl.ok(`get mypod mypod-sample -n ${namespace}`),
      new RegExp(`^NAME +PHASE +PODIP +AGE\nmypod-sample +Running +${podIp} +\\d+s\n$`),
    )
    t.match(
      await kubectl.ok(`get mypods.harryyann.github.io/mypod-sample -n ${namespace} -o wide`),
      new RegExp(`^NAME +PHASE +PODIP +NODEIP +AGE\nmypod-sample +Running +${podIp} +${nodeIp} +\\d+s\n$`),
    )
  })

  t.test('A3: without labels and annotations the Pod has only the label of the operator', async (t) => {
    const { live } = await running('bare')
    t.strictSame(live.metadata.labels, { creator: 'mypod-controller' })
    t.strictSame(
      Object.keys(live.metadata.annotations ?? {}).filter((key) => !key.startsWith('mypod.harryyann.github.io/')),
      [],
    )
    t.ok(operator.isAlive())
  })

  t.test('A4: changed and removed labels are applied to the same Pod', async (t) => {
    const { live: before } = await running('relabelled', { podLabels: { app: 'one', old: 'yes' }, podAnnotations: { note: 'first' } })
    await client.patch(pod, { namespace, name: 'relabelled' }, { metadata: { annotations: { 'cni.example.com/ip': 'foreign' } } })
    const spec = { podLabels: { app: 'two', old: null, new: 'yes' }, podAnnotations: null }
    await client.patch(mypod, { namespace, name: 'relabelled' }, { spec })
    const after = await untilPod('relabelled', 'has the new label', ({ metadata }) => metadata.labels?.['new'] === 'yes', 5 * seconds)
    t.equal(after.metadata.uid, before.metadata.uid)
    t.strictSame(after.metadata.labels, { app: 'two', new: 'yes', creator: 'mypod-controller' })
    t.notOk('note' in after.metadata.annotations!)
    t.equal(after.metadata.annotations!['cni.example.com/ip'], 'foreign', 'an annotation of another manager is kept')
  })

  t.test('A5: a changed image is applied to the same Pod', async (t) => {
    const { live: before } = await running('new-image')
    await client.patch(
      mypod,
      { namespace, name: 'new-image' },
      { spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:2' }] } } },
    )
    const isNew = ({ spec }: typeof before): boolean => spec?.containers[0]?.image === 'example.com/pause:2'
    const after = await untilPod('new-image', 'has the new image', isNew, 5 * seconds)
    t.equal(after.metadata.uid, before.metadata.uid)
  })

  t.test('A6: changed resources cause a new Pod', async (t) => {
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

  t.test('A7: a deleted Pod is created again', async (t) => {
    const { live: before } = await running('deleted-by-hand')
    await client.delete(pod, { namespace, name: 'deleted-by-hand' })
    const isNew = ({ metadata }: typeof before): boolean => metadata.uid !== before.metadata.uid
    const after = await untilPod('deleted-by-hand', 'is a new one', isNew, grace + 10 * seconds)
    t.strictSame(after.spec?.containers[0]?.image, 'example.com/pause:1')
  })

  t.test('manually changed labels are reverted, and an image that another manager changed is kept', async (t) => {
    const { live: before } = await running('drifting', { podLabels: { app: 'mine' } })
    const labels = { app: 'theirs', creator: null, foreign: 'stays' }
    const image = { op: 'replace' as const, path: '/spec/containers/0/image', value: 'example.com/other:1' }
    await client.patch(pod, { namespace, name: 'drifting' }, [image], { type: 'json' })
    await client.patch(pod, { namespace, name: 'drifting' }, { metadata: { labels } })
    const after = await untilPod('drifting', 'is as it was', ({ metadata }) => metadata.labels?.['app'] === 'mine')
    t.equal(after.metadata.uid, before.metadata.uid)
    t.strictSame(after.metadata.labels, { app: 'mine', creator: 'mypod-controller', foreign: 'stays' })
    t.equal(after.spec?.containers[0]?.image, 'example.com/other:1')
  })

  t.test('A9: an existing Pod without owner is not touched, and replaced after its deletion', async (t) => {
    const foreign = {
      metadata: { namespace, name: 'taken', labels: { of: 'somebody' } },
      spec: { containers: [{ name: 'a', image: 'b' }] },
    }
    await client.create(pod, foreign)
    const before = await untilPod('taken', 'runs', ({ status }) => status?.phase === 'Running')
    await client.create(mypod, mypodNamed('taken'))
    const refused = await untilMyPod('taken', 'says so', (found) => conditionOf(found, 'Degraded')?.reason === 'NameConflict')
    t.match(conditionOf(refused, 'Ready'), { status: 'False', reason: 'NameConflict', message: /exists and is not owned by this MyPod/ })
    t.notOk('podPhase' in refused.status!, 'the status of the foreign Pod is not reported')
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

  t.test('A10: ten MyPods at once have their Pods within ten seconds', async (t) => {
    const names = Array.from({ length: 10 }, (_, index) => `many-${index}`)
    await Promise.all(names.map((name) => client.create(mypod, mypodNamed(name))))
    const pods = await Promise.all(names.map((name) => untilPod(name, 'is there', undefined, 10 * seconds)))
    t.equal(new Set(pods.map(({ metadata }) => metadata.uid)).size, 10)
  })

  t.test('the status of a Pod that fits on no node is Pending without an address', async (t) => {
    await client.create(
      mypod,
      mypodNamed('nowhere', { podSpec: { nodeSelector: { project: 'none' }, containers: [{ name: 'main', image: 'x' }] } }),
    )
    const { status } = await untilMyPod('nowhere', 'is pending', (found) => found.status?.podPhase === 'Pending')
    t.notOk('podIp' in status!)
    t.notOk('nodeIp' in status!)
    const unschedulable = await untilPod(
      'nowhere',
      'is seen by the scheduler',
      (found) => found.status?.conditions?.some(({ reason }) => reason === 'Unschedulable') === true,
    )
    t.equal(unschedulable.status?.phase, 'Pending')
  })

  t.test('no request of the operator was forbidden', needsRequests, async (t) => {
    t.strictSame(await refusals(), [])
  })
})
