import t from 'tap'
import type { KubernetesObject, ObjectMeta } from '../../src/api/object.ts'
import {
  and,
  annotationsChanged,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  type ObjectEvent,
} from '../../src/controller/predicates.ts'

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

t.test('predicates about changes look at updates alone', async (t) => {
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
  ] as const
  for (const [name, predicate, counts, counted] of cases) {
    t.equal(predicate(counts), true, `${name} changed`)
    t.equal(predicate(counted), false, `${name} unchanged`)
    t.equal(predicate(added()), true)
    t.equal(predicate({ type: 'deleted', object: object({}) }), true)
  }
  t.equal(generationChanged(updated({}, {})), true, 'a type that counts no generation passes')
})

t.test('a label selector sees objects enter, stay and leave', async (t) => {
  const web = labelSelector('app=web,!legacy')
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
