import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject, jsonEqual } from '../../../src/api/json.ts'
import { applyChanges } from '../../../src/webhook/body/apply-changes.ts'
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
    const changed = parse(JSON.stringify(given)) as JsonObject
    applyChanges(changed, createPatch(given, target))
    return isObject(target) && jsonEqual(changed, target)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 3000 }))
  t.end()
})

t.test('what does not fit is an error, and no other object', (t) => {
  for (const path of ['', '/b/c', '/a/x', '/__proto__/x', '/constructor/name'])
    t.throws(() => applyChanges({ a: 1 }, [{ op: 'add', path, value: 1 }]), { message: `there is nothing at ${path}` })
  t.end()
})
