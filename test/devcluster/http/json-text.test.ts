/** Tests of the JSON of objects, lists and watch events, and of its cache. */
import t from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { JsonText } from '../../../src/devcluster/http/json-text.ts'

const configMap = (data: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })

/** Returns an object that counts how often its JSON is made. */
function counted(): { readonly object: JsonObject; readonly count: () => number } {
  let count = 0
  const object = {
    kind: 'ConfigMap',
    get data() {
      count += 1
      return 'x'
    },
  }
  return { object, count: () => count }
}

t.test('the JSON of a frozen object is made once, also for lists and watch events', (t) => {
  const texts = new JsonText()
  const { object, count } = counted()
  Object.freeze(object)
  const json = '{"kind":"ConfigMap","data":"x"}'
  t.equal(texts.of(object), json)
  const made = count()
  t.equal(texts.of(object), json)
  t.equal(texts.of({ kind: 'FooList', items: [object, object] }), `{"kind":"FooList","items":[${json},${json}]}`)
  t.equal(texts.event('ADDED', object), `{"type":"ADDED","object":${json}}\n`)
  t.equal(count(), made)
  t.end()
})

t.test('the JSON of an object that can change is made each time', (t) => {
  const texts = new JsonText()
  const object = configMap({ a: 'b' })
  t.match(JSON.parse(texts.of(object)), { data: { a: 'b' } })
  t.match(texts.asItem(object), { data: { a: 'b' } })
  object.data = { a: 'c' }
  t.match(JSON.parse(texts.of(object)), { data: { a: 'c' } })
  t.match(texts.asItem(object), { data: { a: 'c' } })
  t.end()
})

t.test('an item of a list has no type, and the item of a frozen object is made once', (t) => {
  const texts = new JsonText()
  const object = deepFreeze(configMap({}))
  const item = texts.asItem(object)
  t.strictSame(item, { metadata: { name: 'a' }, data: {} })
  t.equal(texts.asItem(object), item)
  t.ok(Object.isFrozen(item), 'so its JSON is made once, too')
  t.notOk(Object.isFrozen(texts.asItem({ ...object })))
  t.end()
})

t.test('lists are those objects with items whose kind ends in List', (t) => {
  const texts = new JsonText()
  const lists: JsonObject[] = [
    { kind: 'FooList', metadata: { a: undefined, b: 1 }, absent: undefined, items: [1, null, 'x', { c: 1 }, [2]] },
    { kind: 'FooList', items: [] },
    { kind: 'FooList', items: 'none' },
    { kind: 'FooList', items: { a: 1 } },
    { kind: 'Foo', items: [{ a: 1 }] },
    { items: [{ a: 1 }] },
    { kind: 'FooList' },
  ]
  for (const list of lists) t.equal(texts.of(list), JSON.stringify(list))
  const { object, count } = counted()
  Object.freeze(object)
  texts.of(object)
  const made = count()
  texts.of({ kind: 'Foo', items: [object] })
  t.ok(count() > made, 'the JSON of another object is not made of parts')
  t.end()
})
