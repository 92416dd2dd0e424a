/** What MyPods promise their users, on whichever control plane is chosen. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { event, pod, type Pod } from '../../src/api/builtin.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import { createClient } from '../../src/client/client.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { untilGone } from '../support/devcluster-client.ts'
import { needsRequests } from './backends.ts'
import { startMyPodControlPlane } from '../support/conformance-mypod.ts'
import { conditionOf, identityOf, mypodNamed, namespace } from '../support/mypod-world.ts'
import { repository, until } from '../support/process.ts'

const seconds = 1000
/** The grace period that a Pod has by default. */
const grace = 30 * seconds

const mypodRules = { apiGroups: ['harryyann.github.io'], resources: ['mypods'], verbs: ['create', 'get', 'list', 'update', 'patch'] }

t.test('MyPods', async (t) => {
  const { controlPlane, client, startOperator, whenCollected, refusals, podOf, mypodOf, untilPod, untilMyPod } =
    await startMyPodControlPlane(t, [
      { name: 'only-mypods', rules: [mypodRules] },
      { name: 'both', rules: [mypodRules, { apiGroups: [''], resources: ['pods'], verbs: ['create'] }] },
    ])
  const collected = whenCollected()
  collected.catch(() => undefined) // the tests that wait for it fail
  await startOperator()

  /** Creates a MyPod and waits until its Pod runs and its status says so. */
  async function running(name: string, spec: Partial<MyPod['spec']> = {}): Promise<{ object: MyPod; live: Pod }> {
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
    const isNew = ({ spec }: typeof before): boolean => spec?.containers[0]?.image === 'example.com/pause:2'
    const after = await untilPod('new-image', 'has the new image', isNew, 5 * seconds)
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
    const isNew = ({ metadata }: typeof before): boolean => metadata.uid !== before.metadata.uid
    const after = await untilPod('deleted-by-hand', 'is a new one', isNew, grace + 10 * seconds)
    t.strictSame(after.spec?.containers[0]?.image, 'example.com/pause:1')
  })

  t.test('labels that are changed by hand are changed back, and those of others stay', async (t) => {
    const { live: before } = await running('drifting', { podLabels: { app: 'mine' } })
    const labels = { app: 'theirs', creator: null, foreign: 'stays' }
    await client.patch(pod, { namespace, name: 'drifting' }, { metadata: { labels } })
    const after = await untilPod('drifting', 'is as it was', ({ metadata }) => metadata.labels?.['app'] === 'mine')
    t.equal(after.metadata.uid, before.metadata.uid)
    t.strictSame(after.metadata.labels, { app: 'mine', creator: 'mypod-controller', foreign: 'stays' })
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

  t.test('a Pod that fits on no node: pending, without an address', async (t) => {
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

  const main = { name: 'main', image: 'x' }
  const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an"
  const invalid: Readonly<
    Record<string, { readonly by: string; readonly spec: object; readonly causes: readonly (readonly [string, string, string])[] }>
  > = {
    'no containers': {
      by: 'mutate',
      spec: { podSpec: { containers: [] } },
      causes: [
        ['spec.podSpec.containers', 'FieldValueInvalid', 'Invalid value: 0: spec.podSpec.containers in body should have at least 1 items'],
      ],
    },
    'no spec of the Pod': {
      by: 'mutate',
      spec: { podLabels: { app: 'a' } },
      causes: [['spec.podSpec', 'FieldValueRequired', 'Required value']],
    },
    'a label of the operator': {
      by: 'mutate',
      spec: { podLabels: { creator: 'me' }, podSpec: { containers: [main] } },
      causes: [['spec.podLabels[creator]', 'FieldValueForbidden', 'Forbidden: the label is set by the operator']],
    },
    'two containers of one name': {
      by: 'mutate',
      spec: { podSpec: { containers: [main, main] } },
      causes: [['spec.podSpec.containers[1]', 'FieldValueDuplicate', 'Duplicate value: {"name":"main"}']],
    },
    'a number for a text, and an empty text': {
      by: 'mutate',
      spec: { podLabels: { app: 1 }, podSpec: { containers: [{ name: 'main', image: '' }] } },
      causes: [
        [
          'spec.podLabels.app',
          'FieldValueTypeInvalid',
          'Invalid value: "integer": spec.podLabels.app in body must be of type string: "integer"',
        ],
        [
          'spec.podSpec.containers[0].image',
          'FieldValueInvalid',
          'Invalid value: "": spec.podSpec.containers[0].image in body should be at least 1 chars long',
        ],
      ],
    },
    'what the API server refuses for Pods': {
      by: 'validate',
      spec: { podSpec: { restartPolicy: 'Sometimes', containers: [{ name: 'Main', image: 'x', ports: [{ containerPort: 70_000 }] }] } },
      causes: [
        [
          'spec.podSpec.containers[0].name',
          'FieldValueInvalid',
          `Invalid value: "Main": ${label} alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
        ],
        [
          'spec.podSpec.containers[0].ports[0].containerPort',
          'FieldValueInvalid',
          'Invalid value: 70000: must be between 1 and 65535, inclusive',
        ],
        [
          'spec.podSpec.restartPolicy',
          'FieldValueNotSupported',
          'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        ],
      ],
    },
  }
  for (const [what, { by, spec, causes }] of Object.entries(invalid))
    t.test(`refused, and all that is wrong is told: ${what}`, async (t) => {
      const refusal: unknown = await client
        .create(mypod, { metadata: { namespace, name: 'invalid' }, spec } as ObjectInput<MyPod>)
        .catch((error: unknown) => error)
      const lines = causes.map(([field, , message]) => `${field}: ${message}`)
      const problems = lines.length === 1 ? lines[0]! : `[${lines.join(', ')}]`
      t.strictSame((refusal as { status?: unknown }).status, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `admission webhook "${by}-mypod-v1.harryyann.github.io" denied the request: MyPod.harryyann.github.io "invalid" is invalid: ${problems}`,
        reason: 'Invalid',
        details: {
          name: 'invalid',
          group: 'harryyann.github.io',
          kind: 'MyPod',
          causes: causes.map(([field, reason, message]) => ({ reason, message, field })),
        },
        code: 422,
      })
      t.equal(await mypodOf('invalid'), undefined)
    })

  t.test('who may create MyPods but no Pods is refused; who may both is not', async (t) => {
    const user = createClient(controlPlane.connectionFor('only-mypods'))
    t.teardown(() => user.close())
    await t.rejects(user.create(mypod, mypodNamed('by-only-mypods')), {
      statusCode: 422,
      message: `MyPod.harryyann.github.io "by-only-mypods" is invalid: spec.podSpec: Forbidden: user "only-mypods" cannot create resource "pods" in API group "" in the namespace "${namespace}", which a MyPod needs`,
    })
    t.equal(await mypodOf('by-only-mypods'), undefined)
    const both = createClient(controlPlane.connectionFor('both'))
    t.teardown(() => both.close())
    await both.create(mypod, mypodNamed('by-both'))
    await untilPod('by-both', 'is there')
    await t.rejects(user.delete(pod, { namespace, name: 'by-both' }), {
      statusCode: 403,
      message: `pods "by-both" is forbidden: User "only-mypods" cannot delete resource "pods" in API group "" in the namespace "${namespace}"`,
    })
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

  t.test('a deleted MyPod takes its Pod along', async () => {
    await collected
    await client.delete(mypod, { namespace, name: 'mypod-sample' })
    await untilGone(client, mypod, { namespace, name: 'mypod-sample' })
    await until('the Pod is gone', async () => (await podOf('mypod-sample')) === undefined, 40 * seconds)
  })

  t.test('with the propagation policy Orphan the Pod stays', async (t) => {
    await collected
    const { live } = await running('orphaned')
    await client.delete(mypod, { namespace, name: 'orphaned' }, { propagationPolicy: 'Orphan' })
    await until('the MyPod is gone', async () => (await mypodOf('orphaned')) === undefined, 40 * seconds)
    const after = (await podOf('orphaned'))!
    t.equal(after.metadata.uid, live.metadata.uid)
    t.equal(after.metadata.ownerReferences, undefined)
    t.equal(after.metadata.deletionTimestamp, undefined)
  })

  t.test('the operator was allowed everything that it did', needsRequests, async (t) => {
    t.strictSame(await refusals(), [])
  })
})
