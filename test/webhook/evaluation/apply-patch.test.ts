import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { deepFreeze, isObject, jsonEqual } from '../../../src/api/json.ts'
import { applyPatch } from '../../../src/webhook/evaluation/apply-patch.ts'
import { createPatch } from '../../../src/webhook/patch.ts'
import { fc } from '../../support/property.ts'

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue

t.test('what is applied to the object gives what handlers have made of it', (t) => {
  const key = fc.constantFrom('a', 'name', '__proto__', '', '~', '/', '~1', 'constructor', '-', '0')
  const { object } = fc.letrec<{ value: JsonValue; object: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<JsonValue>(null, true, 1, 2, 'a'),
      fc.array(tie('value'), { maxLength: 6 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 5 })
      .map((entries) => parse(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`)),
  }))
  const property = fc.property(object, object, (given, target) => {
    const changed = applyPatch(deepFreeze(given) as JsonObject, createPatch(given, target))
    return isObject(target) && jsonEqual(changed, target)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 3000 }))
  t.end()
})

t.test('an object that stands in several places is changed in one of them', (t) => {
  const shared = deepFreeze({ a: { b: 1 } })
  const given = { first: shared, second: shared, other: shared }
  const changed = applyPatch(given, [
    { op: 'replace', path: '/first/a/b', value: 2 },
    { op: 'replace', path: '/second/a/b', value: 3 },
    { op: 'add', path: '/first/a/c', value: 4 },
  ])
  t.strictSame(changed, { first: { a: { b: 2, c: 4 } }, second: { a: { b: 3 } }, other: { a: { b: 1 } } })
  t.equal(changed.other, shared, 'what is not changed is not copied')
  t.end()
})

t.test('what does not fit is an error, and no other object', (t) => {
  for (const path of ['', '/b/c', '/a/x', '/__proto__/x', '/constructor/name'])
    t.throws(() => applyPatch({ a: 1 }, [{ op: 'add', path, value: 1 }]), { message: `there is nothing at ${path}` })
  t.end()
})
