/** Tests of the JSON text of an object. The text is cached only if the object is frozen. */
import t from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { jsonOf } from '../../../src/devcluster/apimachinery/json-of.ts'
import { fc } from '../../support/property.ts'

t.test('the JSON is that of the current object, however often it was made before', (t) => {
  const object = fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<JsonValue>, { noNullPrototype: true })
  fc.assert(
    fc.property(object, fc.string(), (given: JsonObject, change) => {
      const open = structuredClone(given)
      t.equal(jsonOf(open), JSON.stringify(open))
      open.changed = change
      t.equal(jsonOf(open), JSON.stringify(open))
      const stored = deepFreeze(structuredClone(open))
      t.equal(jsonOf(stored), JSON.stringify(open))
      t.equal(jsonOf(stored), JSON.stringify(open))
      const next = deepFreeze({ ...stored, changed: [change] })
      t.equal(jsonOf(next), JSON.stringify({ ...open, changed: [change] }))
    }),
  )
  t.end()
})

t.test('integers beyond 2^53 keep their digits', (t) => {
  t.equal(jsonOf(deepFreeze({ a: 2n ** 60n })), '{"a":1152921504606846976}')
  t.end()
})
