import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { sharedFields } from '../../src/conversion/shared-fields.ts'

const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties })
const text: StructuralSchema = { type: 'string' }
const number: StructuralSchema = { type: 'integer' }
const list = (items: StructuralSchema, ...keys: string[]): StructuralSchema => ({
  type: 'array',
  items,
  ...(keys.length > 0 && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys }),
})
const shared = (value: unknown, from: StructuralSchema, to: StructuralSchema): unknown =>
  sharedFields({ field: value as never }, object({ field: from }), object({ field: to })).field

t.test('fields of the same shape are shared, and of differing objects their shared fields', async (t) => {
  const [from, to] = [object({ a: text, b: text, c: text }), object({ a: text, b: number, d: text })]
  t.strictSame(sharedFields({ a: '1', b: '2', c: '3', d: '4' }, from, to), { a: '1' })
  t.strictSame(shared({ a: '1', b: '2', c: '3' }, from, to), { a: '1' })
})

t.test('items of list maps are shared in part if both versions have the same keys', async (t) => {
  const [from, to] = [object({ name: text, host: text, size: text }), object({ name: text, host: text, size: number })]
  const items = [{ name: 'a', host: 'b', size: '1' }]
  const part = [{ name: 'a', host: 'b' }]
  t.strictSame(shared(items, list(from, 'name'), list(to, 'name')), part)
  t.strictSame(shared(items, list(from, 'name', 'host'), list(to, 'name', 'host')), part)
  t.equal(shared(items, list(from, 'name'), list(to, 'host')), undefined, 'by other keys, the item would be another one')
  t.equal(shared(items, list(from, 'name'), list(to, 'name', 'host')), undefined, 'by more keys')
  t.equal(shared(items, list(from, 'name'), list(to)), undefined, 'without keys')
  t.equal(shared(items, list(from), list(to, 'name')), undefined, 'without keys before')
  t.equal(shared(items, list(from), list(to)), undefined, 'by index')
})

t.test('items that are not objects, and fields with names of inherited properties, are kept', async (t) => {
  const [from, to] = [object({ name: text, size: text }), object({ name: text, size: number })]
  t.strictSame(shared([{ name: 'a', size: '1' }, null, 'x'], list(from, 'name'), list(to, 'name')), [{ name: 'a' }, null, 'x'])
  const value = JSON.parse('{"__proto__":"a","b":null,"c":{}}') as Record<string, never>
  const named = object(JSON.parse('{"__proto__":{"type":"string"},"b":{"type":"string"},"c":{"type":"object"}}') as never)
  t.equal(JSON.stringify(sharedFields(value, named, named)), '{"__proto__":"a","b":null,"c":{}}')
  t.strictSame(sharedFields({ constructor: 'a', toString: 'b' } as never, object({}), object({})), {}, 'no version has these fields')
})

t.test('a differing value that is neither an object nor a list map is not shared', async (t) => {
  t.equal(shared('1', text, number), undefined)
  t.equal(shared(undefined, text, text), undefined)
  t.strictSame(shared({}, object({ a: text }), object({ a: number })), {})
  t.equal(shared({ a: '1' }, object({ a: text }), { type: 'object', additionalProperties: text }), undefined)
})
