import t from 'tap'
import type { KubernetesObject, ObjectMeta } from '../../src/api/object.ts'
import {
  and,
  annotationsChanged,
  beingDeleted,
  finalizersChanged,
  funcs,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  ownedBy,
  resourceVersionChanged,
} from '../../src/controller/predicates.ts'
import type { ObjectEvent } from '../../src/cache/object-event.ts'
import { part, thing } from '../support/controller/fakes.ts'

const object = (metadata: Partial<ObjectMeta>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...metadata },
})
const updated = (old: Partial<ObjectMeta>, now: Partial<ObjectMeta>): ObjectEvent => ({
  type: 'updated',
  old: object(old),
  object: object(now),
})
const added = (metadata: Partial<ObjectMeta> = {}): ObjectEvent => ({ type: 'added', object: object(metadata), initial: false })

t.test('predicates about changes apply to updates only', async (t) => {
  const cases = [
    [
      'generation',
      generationChanged,
      updated({ generation: 1 }, { generation: 2 }),
      updated({ generation: 1 }, { generation: 1, resourceVersion: '2' }),
    ],
    ['labels', labelsChanged, updated({ labels: { a: '1' } }, { labels: { a: '2' } }), updated({}, { labels: {} })],
    [
      'annotations',
      annotationsChanged,
      updated({}, { annotations: { a: '2' } }),
      updated({ annotations: { a: '1', b: '2' } }, { annotations: { b: '2', a: '1' } }),
    ],
    ['resourceVersion', resourceVersionChanged, updated({}, { resourceVersion: '2' }), updated({ generation: 1 }, { generation: 2 })],
    [
      'finalizers',
      finalizersChanged,
      updated({ finalizers: ['a'] }, { finalizers: ['a', 'b'] }),
      updated({ finalizers: ['a', 'b'] }, { finalizers: ['b', 'a'] }),
    ],
    ['finalizers', finalizersChanged, updated({ finalizers: ['a'] }, {}), updated({ finalizers: [] }, {})],
  ] as const
  for (const [name, predicate, counts, counted] of cases) {
    t.equal(predicate(counts), true, `${name} changed`)
    t.equal(predicate(counted), false, `${name} unchanged`)
    t.equal(predicate(added()), true)
    t.equal(predicate({ type: 'deleted', object: object({}) }), true)
  }
  t.equal(generationChanged(updated({}, {})), true, 'a type without a generation passes')
})

t.test('a label selector sees objects enter, stay and leave', async (t) => {
  const web = labelSelector({ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'legacy', operator: 'DoesNotExist' }] })
  t.equal(web(added({ labels: { app: 'web' } })), true)
  t.equal(web(added({ labels: { app: 'web', legacy: '' } })), false)
  t.equal(web(added()), false)
  t.equal(web(updated({ labels: { app: 'web' } }, {})), true, 'leaves')
  t.equal(web(updated({}, {})), false)
  t.equal(labelSelector({ matchLabels: { app: 'web' } })(added({ labels: { app: 'web' } })), true)
})

t.test('predicates combine', async (t) => {
  const yes = (): boolean => true
  const no = (): boolean => false
  const event = added()
  t.strictSame([and(yes, no)(event), and(yes, yes)(event), and()(event)], [false, true, true])
  t.strictSame([or(yes, no)(event), or(no, no)(event), or()(event)], [true, false, false])
  t.strictSame([not(yes)(event), not(no)(event)], [false, true])
})

t.test('labels and annotations that are added or removed are a change', async (t) => {
  for (const [predicate, field] of [
    [labelsChanged, 'labels'],
    [annotationsChanged, 'annotations'],
  ] as const) {
    const update = (old: object | undefined, now: object | undefined): boolean =>
      predicate(updated(old === undefined ? {} : { [field]: old }, now === undefined ? {} : { [field]: now }))
    t.strictSame(
      [
        update({ a: '1' }, undefined),
        update(undefined, { a: '1' }),
        update({}, undefined),
        update(undefined, undefined),
        update({ a: '1' }, { a: '1' }),
      ],
      [true, true, false, false, false],
      field,
    )
  }
  t.equal(labelsChanged(updated({ annotations: { a: '1' } }, { annotations: { a: '2' } })), false)
  t.equal(annotationsChanged(updated({ labels: { a: '1' } }, { labels: { a: '2' } })), false)
})

t.test('a generation that appears, disappears or decreases is a change', async (t) => {
  t.equal(generationChanged(updated({}, { generation: 1 })), true)
  t.equal(generationChanged(updated({ generation: 2 }, { generation: 1 })), true)
  t.equal(generationChanged(updated({ generation: 1 }, {})), true)
})

t.test('an invalid selector is refused, and a deletion is selected by its last state', async (t) => {
  t.throws(() => labelSelector({ matchLabels: { 'a b': 'c' } }), { code: 'PRO_INPUT' })
  const web = labelSelector({ matchLabels: { app: 'web' } })
  t.equal(web({ type: 'deleted', object: object({ labels: { app: 'web' } }) }), true)
  t.equal(web({ type: 'deleted', object: object({}) }), false)
  t.equal(web(updated({}, { labels: { app: 'web' } })), true)
  t.equal(labelSelector({})(added()), true)
})

t.test('combined predicates receive the event, and short-circuit', async (t) => {
  const events: unknown[] = []
  const answering = (answer: boolean) => (event: ObjectEvent) => (events.push(event), answer)
  const event = added()
  and(answering(false), answering(true))(event)
  or(answering(true), answering(false))(event)
  not(answering(true))(event)
  t.strictSame(events, [event, event, event])
})

t.test('an object is being deleted when its deletionTimestamp is set, or it is gone', async (t) => {
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  t.strictSame([beingDeleted(added()), beingDeleted(added(deleting))], [false, true])
  t.strictSame([beingDeleted(updated({}, {})), beingDeleted(updated({}, deleting))], [false, true])
  t.equal(beingDeleted({ type: 'deleted', object: object({}) }), true)
})

t.test('ownedBy accepts objects with an owner of the type, in any version and whether it is the controller or not', async (t) => {
  const owned = ownedBy(thing)
  const reference = { apiVersion: 'example.com/v9', kind: 'Thing', name: 'a', uid: 'u' }
  const others = [
    { ...reference, apiVersion: 'other.com/v1' },
    { ...reference, kind: 'Other' },
  ]
  t.equal(owned(added({ ownerReferences: [...others, reference] })), true)
  t.strictSame([owned(added({ ownerReferences: others })), owned(added())], [false, false])
  t.equal(owned(updated({ ownerReferences: [reference] }, {})), true, 'the reference was removed')
  t.equal(owned(updated({}, { ownerReferences: [reference] })), true)
  t.equal(owned(updated({}, {})), false)
  t.equal(owned({ type: 'deleted', object: object({ ownerReferences: [reference] }) }), true)
  t.equal(ownedBy(part)(added({ ownerReferences: [reference] })), false)
})

t.test('functions for the types of events accept events without a function', async (t) => {
  const events = [added(), updated({}, {}), { type: 'deleted', object: object({}) } as const]
  const seen: ObjectEvent[] = []
  const no = (event: ObjectEvent): boolean => (seen.push(event), false)
  const accepted = (predicate: ReturnType<typeof funcs>): boolean[] => events.map((event) => predicate(event))
  t.strictSame(accepted(funcs({})), [true, true, true])
  t.strictSame(accepted(funcs({ added: no })), [false, true, true])
  t.strictSame(accepted(funcs({ updated: no })), [true, false, true])
  t.strictSame(accepted(funcs({ deleted: no })), [true, true, false])
  t.strictSame(seen, events)
})

t.test('the functions of a predicate get the objects with their types', async (t) => {
  interface Sized extends KubernetesObject {
    readonly size: number
  }
  const grows = funcs<Sized>({ updated: ({ object: now, old }) => now.size > old.size })
  const sized = (size: number): Sized => ({ ...object({}), size })
  t.equal(grows({ type: 'updated', object: sized(2), old: sized(1) }), true)
  t.equal(grows({ type: 'updated', object: sized(1), old: sized(1) }), false)
})
