import t from 'tap'
import { changeOf, podFor, podToCheck, specHashAnnotation } from '../../../src/operators/mypod/pod.ts'
import { aMyPod, livePodOf } from '../../support/mypod/objects.ts'

t.test('the Pod has the spec of the MyPod, the label of its creator and its owner', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'y' } })
  const pod = podFor(owner)
  t.match(pod.metadata, {
    name: 'a',
    namespace: 'ns',
    labels: { app: 'x', creator: 'mypod-controller' },
    annotations: { note: 'y', [specHashAnnotation]: /^[0-9a-f]{32}$/ },
    ownerReferences: [{ kind: 'MyPod', uid: 'owner', controller: true, blockOwnerDeletion: true }],
  })
  t.strictSame(owner.spec.podLabels, { app: 'x' }, 'the MyPod is unchanged')
  t.strictSame(podFor(aMyPod()).metadata.labels, { creator: 'mypod-controller' })
})

t.test('fields that servers add to a Pod are no change', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  t.strictSame(changeOf(livePodOf(owner), podFor(owner)), { action: 'none' })
  const decorated = livePodOf(owner)
  decorated.metadata.annotations!['cni.example.com/ip'] = '10.0.0.1'
  decorated.metadata.labels!.foreign = 'z'
  t.strictSame(changeOf(decorated, podFor(owner)), { action: 'none' })
})

t.test('changes of others in the spec are not reverted', async (t) => {
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
    'a lost record is restored',
  )
})

t.test('labels and annotations are patched, and only own ones are removed', async (t) => {
  const before = aMyPod({ podLabels: { app: 'x', old: 'o' }, podAnnotations: { gone: 'g' } })
  const live = livePodOf(before)
  live.metadata.labels!.foreign = 'z'
  const change = changeOf(live, podFor(aMyPod({ podLabels: { app: 'y', added: 'n' } })))
  t.equal(change.action, 'patch')
  const { metadata, ...others } = (
    change as unknown as { patch: { metadata: { labels: object; annotations: { gone: unknown }; resourceVersion: string } } }
  ).patch
  t.strictSame(metadata.labels, { app: 'y', added: 'n', old: null }, 'foreign labels are kept')
  t.equal(metadata.annotations.gone, null)
  t.equal(metadata.resourceVersion, '5')
  t.strictSame(others, {}, 'the spec is unchanged')
})

t.test('a label that was changed by hand is restored', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  const live = livePodOf(owner)
  live.metadata.labels!.app = 'tampered'
  t.match(changeOf(live, podFor(owner)), { action: 'patch', patch: { metadata: { labels: { app: 'x' } } } })
})

t.test('an image is patched, and defaulted fields are kept', async (t) => {
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

t.test('a first deadline and the image of an init container are patched', async (t) => {
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

t.test('an own label that is already gone is not removed again', async (t) => {
  const before = aMyPod({ podLabels: { app: 'x', old: 'o' } })
  const live = livePodOf(before)
  delete live.metadata.labels!.old
  const change = changeOf(live, podFor(aMyPod({ podLabels: { app: 'x' } }))) as { patch?: { metadata: object } }
  t.notOk('labels' in (change.patch?.metadata ?? {}))
})

t.test('changes that a running Pod cannot have recreate it', async (t) => {
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

t.test('a shorter deadline and an additional toleration are patched', async (t) => {
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

t.test('integers beyond 2^53 are no change, from the live Pod or from the record', async (t) => {
  const seconds = 9007199254740993n as unknown as number
  const containers = [{ name: 'main', image: 'x:1' }]
  const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: seconds }]
  const owner = aMyPod({ podSpec: { containers, activeDeadlineSeconds: seconds, tolerations } })
  t.strictSame(changeOf(livePodOf(owner), podFor(owner)), { action: 'none' })
})

t.test('a damaged record of applied values removes nothing', async (t) => {
  const owner = aMyPod({ podLabels: { app: 'x' } })
  const live = livePodOf(owner)
  live.metadata.annotations!['mypod.harryyann.github.io/applied'] = 'garbage'
  const change = changeOf(live, podFor(owner))
  t.match(change, { action: 'patch', patch: { metadata: { annotations: { 'mypod.harryyann.github.io/applied': /^\{"annotations"/ } } } })
})

const applied = 'mypod.harryyann.github.io/applied'
const containers = [{ name: 'main', image: 'x:1' }]
type Patch = { readonly metadata: Record<string, unknown>; readonly spec?: unknown }
const patchOf = (...all: Parameters<typeof changeOf>): Patch => (changeOf(...all) as unknown as { readonly patch: Patch }).patch

t.test('a Pod has the spec, and a sorted record of the applied values', async (t) => {
  const podSpec = {
    containers: [{ name: 'z', image: 'x:1' }],
    initContainers: [{ name: 'init', image: 'i:1' }, { name: 'bare' } as never],
    tolerations: [{ key: 'a', operator: 'Exists' }],
    activeDeadlineSeconds: 5,
  }
  const owner = aMyPod({ podLabels: { z: '1', creator: 'somebody', a: '2' }, podAnnotations: { y: '1', b: '2' }, podSpec })
  const { metadata, spec } = podFor(owner)
  t.equal(spec, podSpec)
  const { [applied]: record, [specHashAnnotation]: hash, ...annotations } = metadata.annotations!
  t.strictSame(annotations, { y: '1', b: '2' })
  t.match(hash, /^[0-9a-f]{32}$/)
  t.strictSame(JSON.parse(record!), {
    labels: ['a', 'creator', 'z'],
    annotations: ['b', 'y'],
    tolerations: [{ key: 'a', operator: 'Exists' }],
    images: { init: 'i:1', bare: '', z: 'x:1' },
    activeDeadlineSeconds: 5,
  })
  t.strictSame(metadata.labels, { z: '1', creator: 'mypod-controller', a: '2' })
  t.strictSame(metadata.ownerReferences, [
    { apiVersion: 'harryyann.github.io/v1', kind: 'MyPod', name: 'a', uid: 'owner', controller: true, blockOwnerDeletion: true },
  ])
  t.strictSame(JSON.parse(podFor(aMyPod()).metadata.annotations![applied]!), {
    labels: ['creator'],
    annotations: [],
    tolerations: [],
    images: { main: 'x:1' },
  })
})

t.test('a Pod for a dry run has no record, no owner and no name', async (t) => {
  t.strictSame(podToCheck(aMyPod({ podLabels: { a: 'b' }, podAnnotations: { c: 'd' } }), 'check-'), {
    metadata: { generateName: 'check-', namespace: 'ns', labels: { a: 'b', creator: 'mypod-controller' }, annotations: { c: 'd' } },
    spec: { containers },
  })
  t.strictSame(podToCheck(aMyPod(), 'check-').metadata.annotations, {})
})

t.test('the hash covers the immutable fields, regardless of field order', async (t) => {
  const hashOf = (podSpec: object): string | undefined =>
    podFor(aMyPod({ podSpec: { containers, ...podSpec } as never })).metadata.annotations![specHashAnnotation]
  const hash = hashOf({})
  for (const same of [
    { containers: [{ image: 'x:2', name: 'main' }] },
    { activeDeadlineSeconds: 5 },
    { tolerations: [{ key: 'a', operator: 'Exists' }] },
  ])
    t.equal(hashOf(same), hash, JSON.stringify(same))
  const init = hashOf({ initContainers: [{ name: 'init', image: 'a' }] })
  t.equal(hashOf({ initContainers: [{ name: 'init', image: 'b' }] }), init)
  const others = [
    hash,
    init,
    hashOf({ initContainers: [{ name: 'other', image: 'a' }] }),
    hashOf({ containers: [{ name: 'other', image: 'x:1' }] }),
    hashOf({ containers: [{ name: 'main', image: 'x:1', args: ['a'] }] }),
    hashOf({ hostNetwork: true }),
  ]
  t.equal(new Set(others).size, others.length)
})

t.test('the reason to recreate a Pod is reported', async (t) => {
  const live = livePodOf(aMyPod({ podSpec: { containers, activeDeadlineSeconds: 10, tolerations: [{ key: 'a', operator: 'Exists' }] } }))
  const changeTo = (podSpec: object): unknown => changeOf(live, podFor(aMyPod({ podSpec: { containers, ...podSpec } as never })))
  const tolerations = [{ key: 'a', operator: 'Exists' }]
  const cannotFollow = {
    action: 'recreate',
    why: 'activeDeadlineSeconds or tolerations changed in a way that a running Pod does not allow',
  }
  t.strictSame(changeTo({ activeDeadlineSeconds: 10, tolerations, hostNetwork: true }), {
    action: 'recreate',
    why: 'the Pod spec changed in fields that a running Pod cannot change',
  })
  t.strictSame(changeTo({ activeDeadlineSeconds: 11, tolerations }), cannotFollow)
  t.strictSame(changeTo({ tolerations }), cannotFollow)
  t.strictSame(changeTo({ activeDeadlineSeconds: 10 }), cannotFollow)
  t.strictSame(changeTo({ activeDeadlineSeconds: 10, tolerations: [{ key: 'a', operator: 'Equal' }] }), cannotFollow)
  t.strictSame(changeTo({ activeDeadlineSeconds: 10, tolerations }), { action: 'none' })
})

t.test('a patch has only the changes and their record', async (t) => {
  const before = aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'y' } })
  const live = livePodOf(before)
  const labelled = podFor(aMyPod({ podLabels: { app: 'x', more: 'z' }, podAnnotations: { note: 'y' } }))
  t.strictSame(patchOf(live, labelled), {
    metadata: { labels: { more: 'z' }, annotations: { [applied]: labelled.metadata.annotations![applied] }, resourceVersion: '5' },
  })
  const annotated = podFor(aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'other' } }))
  t.strictSame(patchOf(live, annotated), { metadata: { annotations: { note: 'other' }, resourceVersion: '5' } })
  const image = podFor(
    aMyPod({ podLabels: { app: 'x' }, podAnnotations: { note: 'y' }, podSpec: { containers: [{ name: 'main', image: 'x:2' }] } }),
  )
  t.strictSame(patchOf(live, image), {
    metadata: { annotations: { [applied]: image.metadata.annotations![applied] }, resourceVersion: '5' },
    spec: { containers: [{ name: 'main', image: 'x:2' }] },
  })
})

t.test('an image that already has the wanted value needs no patch of the spec', async (t) => {
  const live = livePodOf(aMyPod(), { spec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.notOk('spec' in patchOf(live, podFor(aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } }))))
})

t.test('a deadline may be set or shortened only', async (t) => {
  const withDeadline = (seconds: number | undefined): ReturnType<typeof aMyPod> =>
    aMyPod({ podSpec: { containers, ...(seconds !== undefined && { activeDeadlineSeconds: seconds }) } })
  for (const [before, after, expected] of [
    [undefined, 20, { activeDeadlineSeconds: 20 }],
    [20, 19, { activeDeadlineSeconds: 19 }],
    [20, 20, 'none'],
    [20, 21, 'recreate'],
    [20, undefined, 'recreate'],
  ] as const) {
    const [live, desired] = [livePodOf(withDeadline(before)), podFor(withDeadline(after))]
    if (typeof expected === 'string') t.equal(changeOf(live, desired).action, expected, `${before} ${after}`)
    else t.strictSame(patchOf(live, desired).spec, expected, `${before} ${after}`)
  }
})

t.test('existing tolerations are not added again, and others keep their place', async (t) => {
  const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
  const [a, b] = ['a', 'b'].map((key) => ({ key, operator: 'Exists' }))
  const owner = (...tolerations: object[]): ReturnType<typeof aMyPod> => aMyPod({ podSpec: { containers, tolerations } as never })
  t.strictSame(patchOf(livePodOf(owner()), podFor(owner(a!, b!))).spec, { tolerations: [notReady, a, b] })
  t.notOk('spec' in patchOf(livePodOf(owner()), podFor(owner(notReady))))
  t.strictSame(changeOf(livePodOf(owner(a!, b!)), podFor(owner(b!, a!))).action, 'patch', 'of the record only')
  const live = (tolerations: object[] | undefined): ReturnType<typeof livePodOf> => {
    const pod = livePodOf(owner(a!))
    return { ...pod, spec: { ...pod.spec!, tolerations: tolerations as never } }
  }
  const metadata = { resourceVersion: '5' }
  t.strictSame(patchOf(live([notReady]), podFor(owner(a!))), { metadata, spec: { tolerations: [notReady, a] } }, 'one is missing')
  t.strictSame(patchOf(live(undefined), podFor(owner(a!))), { metadata, spec: { tolerations: [a] } }, 'all are missing')
  t.strictSame(changeOf(live([a!]), podFor(owner(a!))), { action: 'none' })
})

t.test('a partial record is used as far as possible, and a lost one removes nothing', async (t) => {
  const owner = aMyPod({ podLabels: { old: 'o' }, podAnnotations: { gone: 'g' } })
  const desired = podFor(aMyPod())
  const patched = (record: string | undefined): Patch => {
    const live = livePodOf(owner)
    if (record === undefined) delete live.metadata.annotations![applied]
    else live.metadata.annotations![applied] = record
    return patchOf(live, desired)
  }
  const record = { [applied]: desired.metadata.annotations![applied] }
  t.strictSame(patched('{}'), { metadata: { annotations: record, resourceVersion: '5' } })
  t.strictSame(patched('{"labels":["old"]}').metadata['labels'], { old: null })
  t.strictSame(patched('{"annotations":["gone"]}').metadata['annotations'], { ...record, gone: null })
  const wrong = ['{"labels":"x"}', '{"labels":[1]}', '{"annotations":{}}', '{"tolerations":{}}', '{"images":"x"}', '[]', '7']
  for (const lost of [undefined, '', '{', 'null', ...wrong])
    t.strictSame(patched(lost), { metadata: { annotations: record, resourceVersion: '5' } })
})

t.test('a MyPod cannot set the annotations of the operator', async (t) => {
  const own = podFor(aMyPod()).metadata.annotations!
  const owner = aMyPod({ podAnnotations: { [specHashAnnotation]: 'mine', [applied]: 'mine', note: 'y' } })
  const { [specHashAnnotation]: hash, [applied]: record, note } = podFor(owner).metadata.annotations!
  t.equal(hash, own[specHashAnnotation])
  t.match(record, /^\{"annotations":/)
  t.equal(note, 'y')
  t.strictSame(changeOf(livePodOf(owner), podFor(owner)), { action: 'none' })
})

t.test('with a lost record, the spec of the Pod is not changed', async (t) => {
  const owner = aMyPod({ podSpec: { containers, activeDeadlineSeconds: 20, tolerations: [{ key: 'a', operator: 'Exists' }] } })
  const live = livePodOf(owner, { spec: { containers: [{ name: 'main', image: 'mirror.example.com/x:1' }], activeDeadlineSeconds: 10 } })
  for (const record of [undefined, 'garbage']) {
    if (record === undefined) delete live.metadata.annotations![applied]
    else live.metadata.annotations![applied] = record
    const patch = patchOf(live, podFor(owner))
    t.notOk('spec' in patch)
    t.match(patch.metadata['annotations'], { [applied]: /"images":\{"main":"x:1"\}/ })
  }
})

t.test('an image that another client has changed is kept when the image of another container changes', async (t) => {
  const withImages = (first: string, second: string): { containers: { name: string; image: string }[] } => ({
    containers: [
      { name: 'first', image: first },
      { name: 'second', image: second },
    ],
  })
  const live = livePodOf(aMyPod({ podSpec: withImages('x:1', 'y:1') }), { spec: withImages('mirror.example.com/x:1', 'y:1') })
  const patch = patchOf(live, podFor(aMyPod({ podSpec: withImages('x:1', 'y:2') })))
  t.strictSame(patch.spec, withImages('mirror.example.com/x:1', 'y:2'))
})
