import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { differences } from '../../src/conversion/compare-versions.ts'

const text: StructuralSchema = { type: 'string' }
const number: StructuralSchema = { type: 'integer' }
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties })

t.test('differing places are listed in field order, without those below another one', async (t) => {
  const a = object({
    z: text,
    same: text,
    gone: text,
    list: { type: 'array', items: object({ b: text, c: text }) },
    map: object({ d: text }),
  })
  const b = object({
    z: number,
    same: text,
    list: { type: 'array', items: object({ b: number, c: text }) },
    map: object({ d: text, e: text }),
    added: text,
  })
  t.strictSame(differences(a, b), ['z', 'gone', 'list[].b', 'map.e', 'added'])
  t.strictSame(differences(b, a), ['z', 'list[].b', 'map.e', 'added', 'gone'])
  t.strictSame(differences(a, a), [])
  t.strictSame(differences(object({ a: object({ b: text }) }), object({ a: text })), ['a'])
  t.strictSame(differences(text, number), [''])
})

t.test('each of these keywords affects the shape', async (t) => {
  const cases: readonly (readonly [StructuralSchema, StructuralSchema, boolean])[] = [
    [{ type: 'string' }, { type: 'boolean' }, true],
    [{ type: 'string', nullable: true }, { type: 'string' }, true],
    [{ type: 'string', nullable: false }, { type: 'string' }, false],
    [{ 'x-kubernetes-int-or-string': true }, {}, true],
    [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { type: 'object' }, true],
    [{ type: 'object', 'x-kubernetes-embedded-resource': true }, { type: 'object' }, true],
    [{ type: 'array', items: text }, { type: 'array' }, true],
    [{ type: 'string', pattern: 'a', maxLength: 1, description: 'x', default: 'a' }, { type: 'string' }, false],
    [{ type: 'object', required: ['a'], properties: { a: text } }, { type: 'object', properties: { a: text } }, false],
  ]
  for (const [a, b, differs] of cases) {
    t.strictSame(differences(object({ f: a }), object({ f: b })).length > 0, differs, JSON.stringify([a, b]))
    t.strictSame(differences(object({ f: b }), object({ f: a })).length > 0, differs, JSON.stringify([b, a]))
  }
})

t.test('maps differ by the schema of their values', async (t) => {
  const map = (additionalProperties?: StructuralSchema | boolean): StructuralSchema =>
    additionalProperties === undefined ? { type: 'object' } : { type: 'object', additionalProperties }
  t.strictSame(differences(object({ m: map(text) }), object({ m: map(text) })), [])
  t.strictSame(differences(object({ m: map(text) }), object({ m: map(number) })), ['m.*'])
  t.strictSame(differences(object({ m: map(object({ a: text })) }), object({ m: map(object({})) })), ['m.*.a'])
  t.strictSame(differences(object({ m: map(text) }), object({ m: map() })), ['m.*'])
  t.strictSame(differences(object({ m: map(true) }), object({ m: map(text) })), ['m.*'])
  t.strictSame(differences(object({ m: map(true) }), object({ m: map(true) })), [])
  t.strictSame(differences(object({ m: map(true) }), object({ m: map() })), ['m.*'])
  t.strictSame(differences(object({ m: map(false) }), object({ m: map() })), [])
  t.strictSame(
    differences(
      object({ z: text, m: map(true), l: { type: 'array', items: text } }),
      object({ z: number, m: map(text), l: { type: 'array' } }),
    ),
    ['z', 'm.*', 'l[]'],
  )
})

t.test('one of two enums may be a subset of the other', async (t) => {
  const of = (...values: (string | object)[]): StructuralSchema => ({ enum: values as string[] })
  for (const [a, b, differs] of [
    [of('a', 'b'), of('b'), false],
    [of('b', 'a'), of('a', 'b'), false],
    [of('a', 'b', 'c'), of('a', 'd'), true],
    [of('a', 'b'), of('c', 'd'), true],
    [of('a'), {}, false],
    [of({ x: 1 }), of({ x: 1 }, 'a'), false],
  ] as const) {
    t.equal(differences(object({ f: a }), object({ f: b })).length > 0, differs, JSON.stringify([a, b]))
    t.equal(differences(object({ f: b }), object({ f: a })).length > 0, differs, JSON.stringify([b, a]))
  }
})

t.test('a field with the name of an inherited property is compared', async (t) => {
  t.strictSame(differences(object({ constructor: text } as never), object({})), ['constructor'])
  t.strictSame(differences(object({}), object({ toString: text } as never)), ['toString'])
})
