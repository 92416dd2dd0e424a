/** Tests of the JSON texts of objects, lists and watch events, and of the cache of these texts. */
import t from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { fc } from '../../support/property.ts'
import { JsonText } from '../../../src/devcluster/http/json-text.ts'

const configMap = (data: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })

/** Frozen objects. In some of them, apiVersion and kind are the first fields, as in stored objects. */
const jsonObjects = fc
  .record({
    type: fc.constantFrom('none', 'first', 'last'),
    kind: fc.constantFrom('A', 'B"ä'),
    fields: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
  })
  .map(({ type, kind, fields }) => {
    const types = { kind, apiVersion: 'v1' }
    return deepFreeze({ ...(type === 'first' ? types : {}), ...fields, ...(type === 'last' ? types : {}) }) as JsonObject
  })

/** Returns an object that counts how often its JSON is generated. */
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
  t.equal(String(texts.body({ kind: 'FooList', items: [object] })), `{"kind":"FooList","items":[${json}]}\n`)
  t.equal(String(texts.event('ADDED', object)), `{"type":"ADDED","object":${json}}\n`)
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

t.test('the line of a frozen object is shared by consecutive watchers of the same event', (t) => {
  const texts = new JsonText()
  const [object, other] = [deepFreeze(configMap({ a: 'ä' })), deepFreeze(configMap({ a: 'b' }))]
  const line = texts.event('ADDED', object)
  t.equal(texts.event('ADDED', object), line)
  t.equal(String(texts.event('MODIFIED', object)), `{"type":"MODIFIED","object":${JSON.stringify(object)}}\n`)
  t.equal(String(texts.event('MODIFIED', other)), `{"type":"MODIFIED","object":${JSON.stringify(other)}}\n`)
  t.strictSame(texts.event('ADDED', object), line)
  const open = configMap({ a: 'b' })
  texts.event('ADDED', open)
  open.data = { a: 'c' }
  t.match(String(texts.event('ADDED', open)), '"data":{"a":"c"}')
  t.end()
})

t.test('the JSON of a list is that of its items, without their types for a built-in type', (t) => {
  fc.assert(
    fc.property(fc.array(jsonObjects), jsonObjects, fc.boolean(), (objects, metadata, isBuiltin) => {
      const texts = new JsonText()
      const list = (): JsonObject => ({
        kind: 'FooList',
        metadata,
        items: objects.map((object) => (isBuiltin ? texts.asItem(object) : object)),
      })
      const expected = JSON.stringify({
        kind: 'FooList',
        metadata,
        items: objects.map(({ kind, apiVersion, ...rest }) => ({ ...(isBuiltin ? {} : { kind, apiVersion }), ...rest })),
      })
      // If apiVersion and kind are not the first fields of an object, the keys of the text and of `expected` have different orders. The
      // parsed values are therefore compared.
      const parsed = (text: string): unknown => JSON.parse(text)
      for (const texted of [texts.of(list()), String(texts.body(list())), String(texts.body(list()))]) {
        t.strictSame(parsed(texted), parsed(expected))
        if (isBuiltin) t.equal(texted.trimEnd(), expected)
      }
    }),
  )
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
