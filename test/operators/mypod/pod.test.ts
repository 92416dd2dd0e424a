import t from 'tap'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { changeOf, podFor, podToCheck, specHashAnnotation } from '../../../src/operators/mypod/pod.ts'
import { aMyPod, livePodOf } from '../../support/mypod.ts'

t.test('the Pod carries what the MyPod asks for, the label of its creator and its owner', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'y' } })
  const pod = podFor(owner)
  t.match(pod.metadata, {
    name: 'a',
    namespace: 'ns',
    labels: { app: 'x', creator: 'mypod-controller' },
    annotations: { note: 'y', [specHashAnnotation]: /^[0-9a-f]{32}$/ },
    ownerReferences: [{ kind: 'MyPod', uid: 'owner', controller: true, blockOwnerDeletion: true }],
  })
  t.strictSame(owner.spec.podLabels, { app: 'x' }, 'the MyPod is not touched')
  t.strictSame(podFor(aMyPod()).metadata.labels, { creator: 'mypod-controller' })
})

t.test('what servers and others add to a Pod is no change', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  t.strictSame(changeOf(livePodOf(owner), podFor(owner)), { action: 'none' })
  const decorated = livePodOf(owner)
  decorated.metadata.annotations!['cni.example.com/ip'] = '10.0.0.1'
  decorated.metadata.labels!.foreign = 'z'
  t.strictSame(changeOf(decorated, podFor(owner)), { action: 'none' })
})

t.test('what other webhooks and people change in the spec is not fought over', async (t) => {
  const owner = aMyPod()
  const mirrored = livePodOf(owner, {
    spec: { containers: [{ name: 'main', image: 'mirror.example.com/x@sha256:1' }], activeDeadlineSeconds: 60 },
  })
  t.strictSame(changeOf(mirrored, podFor(owner)), { action: 'none' })
  const lost = livePodOf(owner)
  delete lost.metadata.annotations
  t.match(
    changeOf(lost, podFor(owner)),
    { action: 'patch', patch: { metadata: { annotations: { [specHashAnnotation]: /./ } } } },
    'a lost record is written again',
  )
})

t.test('labels and annotations change in place; only what was ours is removed', async (t) => {
  const before = aMyPod({ podLabels: { app: 'x', old: 'o' }, podAnnotations: { gone: 'g' } })
  const live = livePodOf(before)
  live.metadata.labels!.foreign = 'z'
  const change = changeOf(live, podFor(aMyPod({ podLabels: { app: 'y', added: 'n' } })))
  t.equal(change.action, 'patch')
  const { metadata, ...others } = (
    change as unknown as { patch: { metadata: { labels: object; annotations: { gone: unknown }; resourceVersion: string } } }
  ).patch
  t.strictSame(metadata.labels, { app: 'y', added: 'n', old: null }, 'the foreign one is not touched')
  t.equal(metadata.annotations.gone, null)
  t.equal(metadata.resourceVersion, '5')
  t.strictSame(others, {}, 'the spec is not touched')
})

t.test('a label that somebody changed by hand is put right', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  const live = livePodOf(owner)
  live.metadata.labels!.app = 'tampered'
  t.match(changeOf(live, podFor(owner)), { action: 'patch', patch: { metadata: { labels: { app: 'x' } } } })
})

t.test('an image changes in place and keeps what the server filled in', async (t) => {
  const before = aMyPod()
  const live = livePodOf(before, {
    spec: {
      containers: [
        { name: 'main', image: 'x:1', terminationMessagePath: '/dev/termination-log' },
        { name: 'injected', image: 'sidecar' },
      ],
    },
  })
  const change = changeOf(live, podFor(aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })))
  t.match(change, {
    action: 'patch',
    patch: {
      spec: {
        containers: [
          { name: 'main', image: 'x:2', terminationMessagePath: '/dev/termination-log' },
          { name: 'injected', image: 'sidecar' },
        ],
      },
    },
  })
})

t.test('a first deadline and the image of an init container change in place', async (t) => {
  const containers = [{ name: 'main', image: 'x:1' }]
  const before = aMyPod({ podSpec: { containers, initContainers: [{ name: 'init', image: 'i:1' }] } })
  const after = aMyPod({ podSpec: { containers, initContainers: [{ name: 'init', image: 'i:2' }], activeDeadlineSeconds: 20 } })
  const change = changeOf(livePodOf(before), podFor(after))
  t.equal(change.action, 'patch')
  t.strictSame((change as { patch: { spec: object } }).patch.spec, {
    initContainers: [{ name: 'init', image: 'i:2' }],
    activeDeadlineSeconds: 20,
  })
})

t.test('a label of ours that somebody has removed already is not removed again', async (t) => {
  const before = aMyPod({ podLabels: { app: 'x', old: 'o' } })
  const live = livePodOf(before)
  delete live.metadata.labels!.old
  const change = changeOf(live, podFor(aMyPod({ podLabels: { app: 'x' } }))) as { patch?: { metadata: object } }
  t.notOk('labels' in (change.patch?.metadata ?? {}))
})

t.test('what a running Pod cannot change is made anew', async (t) => {
  const container = { name: 'main', image: 'x:1' }
  const cases: [string, object, object][] = [
    ['resources', {}, { containers: [{ ...container, resources: { limits: { cpu: '1' } } }] }],
    ['another container', {}, { containers: [container, { name: 'second', image: 'y' }] }],
    ['a longer deadline', { activeDeadlineSeconds: 10 }, { activeDeadlineSeconds: 20 }],
    ['a deadline taken away', { activeDeadlineSeconds: 10 }, {}],
    ['a toleration taken away', { tolerations: [{ key: 'a', operator: 'Exists' }] }, {}],
  ]
  for (const [what, before, after] of cases) {
    const old = aMyPod({ podSpec: { containers: [container], ...before } })
    const wanted = aMyPod({ podSpec: { containers: [container], ...after } })
    t.equal(changeOf(livePodOf(old), podFor(wanted)).action, 'recreate', what)
  }
})

t.test('a shorter deadline and a further toleration change in place', async (t) => {
  const containers = [{ name: 'main', image: 'x:1' }]
  const old = aMyPod({ podSpec: { containers, activeDeadlineSeconds: 20, tolerations: [{ key: 'a', operator: 'Exists' }] } })
  const wanted = aMyPod({
    podSpec: {
      containers,
      activeDeadlineSeconds: 10,
      tolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'Exists' },
      ],
    },
  })
  t.match(changeOf(livePodOf(old), podFor(wanted)), {
    action: 'patch',
    patch: { spec: { activeDeadlineSeconds: 10, tolerations: [{ key: 'a' }, { key: 'node.kubernetes.io/not-ready' }, { key: 'b' }] } },
  })
})

t.test('integers beyond 2^53 are no change, read from a living Pod or from the record', async (t) => {
  const seconds = 9007199254740993n as unknown as number
  const containers = [{ name: 'main', image: 'x:1' }]
  const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }]
  const owner = aMyPod({ podSpec: { containers, activeDeadlineSeconds: seconds, tolerations } })
  t.strictSame(changeOf(livePodOf(owner), podFor(owner)), { action: 'none' })
})

t.test('a damaged record of what was applied takes nothing away', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  const live = livePodOf(owner)
  live.metadata.annotations!['mypod.harryyann.github.io/applied'] = 'garbage'
  const change = changeOf(live, podFor(owner))
  t.match(change, { action: 'patch', patch: { metadata: { annotations: { 'mypod.harryyann.github.io/applied': /^\{"annotations"/ } } } })
})

t.test('a Pod and its record, whole', (t) => {
  const containers = [{ name: 'b', image: 'x:1' }, { name: 'c' }]
  const initContainers = [{ name: 'a', image: 'i:1' }]
  const tolerations = [{ key: 'k' }]
  const owner = aMyPod({
    podLabels: { z: '1', b: '2' },
    podAnnotations: { y: '3', a: '4' },
    podSpec: { containers, initContainers, tolerations, activeDeadlineSeconds: 5 },
  })
  const pod = podFor(owner)
  t.equal(pod.spec, owner.spec.podSpec)
  t.strictSame(JSON.parse(pod.metadata.annotations!['mypod.harryyann.github.io/applied']!), {
    labels: ['b', 'creator', 'z'],
    annotations: ['a', 'y'],
    tolerations,
    images: { a: 'i:1', b: 'x:1', c: '' },
    activeDeadlineSeconds: 5,
  })
  t.strictSame(Object.keys(pod.metadata.annotations!).sort(), ['a', 'mypod.harryyann.github.io/applied', specHashAnnotation, 'y'])
  t.strictSame(pod.metadata.ownerReferences, [
    { apiVersion: 'harryyann.github.io/v1', kind: 'MyPod', name: 'a', uid: 'owner', controller: true, blockOwnerDeletion: true },
  ])
  t.strictSame(podToCheck(aMyPod(), 'p-'), {
    metadata: { generateName: 'p-', namespace: 'ns', labels: { creator: 'mypod-controller' }, annotations: {} },
    spec: aMyPod().spec.podSpec,
  })
  t.end()
})

t.test('the hash is that of what cannot change in place', (t) => {
  const hash = (podSpec: object): string =>
    podFor(aMyPod({ podSpec: podSpec as MyPod['spec']['podSpec'] })).metadata.annotations![specHashAnnotation]!
  const container = { name: 'a', image: 'x:1' }
  const base = { containers: [container], initContainers: [container] }
  for (const same of [
    { ...base, tolerations: [{ key: 'k' }] },
    { ...base, activeDeadlineSeconds: 5 },
    { ...base, containers: [{ name: 'a', image: 'x:2' }] },
    { ...base, initContainers: [{ name: 'a', image: 'x:2' }] },
  ])
    t.equal(hash(same), hash(base))
  for (const other of [
    { ...base, nodeName: 'n' },
    { ...base, containers: [{ ...container, command: ['c'] }] },
    { ...base, initContainers: [{ ...container, command: ['c'] }] },
    { containers: [container] },
  ])
    t.not(hash(other), hash(base))
  t.end()
})

t.test('why a Pod is made anew', (t) => {
  const containers = [{ name: 'main', image: 'x:1' }]
  const live = livePodOf(aMyPod({ podSpec: { containers, activeDeadlineSeconds: 10 } }))
  const wanted = (podSpec: object): ReturnType<typeof podFor> => podFor(aMyPod({ podSpec: { containers, ...podSpec } }))
  t.strictSame(changeOf(live, wanted({ nodeName: 'n' })), {
    action: 'recreate',
    why: 'the Pod spec changed in fields that a running Pod cannot change',
  })
  t.strictSame(changeOf(live, wanted({ activeDeadlineSeconds: 11 })), {
    action: 'recreate',
    why: 'activeDeadlineSeconds or tolerations changed in a way that a running Pod cannot follow',
  })
  t.strictSame(changeOf(live, wanted({ activeDeadlineSeconds: 10 })), { action: 'none' })
  t.end()
})

t.test('a patch is bound to the Pod that was seen, and has nothing but the change', (t) => {
  const containers = [{ name: 'main', image: 'x:1' }]
  const owner = aMyPod({ podLabels: { app: 'x' }, podSpec: { containers } })
  const applied = (object: MyPod): string => podFor(object).metadata.annotations!['mypod.harryyann.github.io/applied']!
  const next = aMyPod({ podLabels: { app: 'x' }, podSpec: { containers: [{ name: 'main', image: 'x:2' }], tolerations: [{ key: 'k' }] } })
  const live = livePodOf(owner)
  t.strictSame(changeOf(live, podFor(next)), {
    action: 'patch',
    patch: {
      metadata: { annotations: { 'mypod.harryyann.github.io/applied': applied(next) }, resourceVersion: '5' },
      spec: { containers: [{ name: 'main', image: 'x:2' }], tolerations: [...live.spec!.tolerations!, { key: 'k' }] },
    },
  })
  live.metadata.labels!.app = 'y'
  t.strictSame(changeOf(live, podFor(owner)), { action: 'patch', patch: { metadata: { labels: { app: 'x' }, resourceVersion: '5' } } })
  t.end()
})

t.test('what somebody else has done already is not done again', (t) => {
  const before = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1' }] } })
  const live = livePodOf(before)
  live.spec!.containers[0]!.image = 'x:2'
  live.spec!.tolerations!.push({ key: 'k' })
  const after = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }], tolerations: [{ key: 'k' }] } })
  const change = changeOf(live, podFor(after)) as { patch: object }
  t.notOk('spec' in change.patch)
  t.end()
})

t.test('a record of an older form is as good as far as it goes', (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  const live = livePodOf(owner)
  live.metadata.annotations!['mypod.harryyann.github.io/applied'] = '{}'
  live.metadata.labels!.old = 'o'
  const change = changeOf(live, podFor(owner)) as { patch: { metadata: object } }
  t.strictSame(Object.keys(change.patch.metadata), ['annotations', 'resourceVersion'])
  t.end()
})

t.test('a first toleration of a Pod that has none is added, and one of several is enough to be kept', (t) => {
  const containers = [{ name: 'main', image: 'x:1' }]
  const withTolerations = (...keys: string[]): MyPod =>
    aMyPod({ podSpec: { containers, ...(keys.length > 0 && { tolerations: keys.map((key) => ({ key })) }) } })
  const live = livePodOf(withTolerations())
  delete live.spec!.tolerations
  t.match(changeOf(live, podFor(withTolerations('a'))), { action: 'patch', patch: { spec: { tolerations: [{ key: 'a' }] } } })
  t.equal(changeOf(livePodOf(withTolerations('a', 'b')), podFor(withTolerations('b', 'a'))).action, 'patch', 'the record alone')
  t.equal(changeOf(livePodOf(withTolerations('a', 'b')), podFor(withTolerations('b'))).action, 'recreate')
  t.end()
})
