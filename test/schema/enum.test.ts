import t from 'tap'
import type { JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'

/**
 * Returns true when the enum allows the value. If ajv rejects the value, but `explain` (src/schema/explain-errors.ts) finds no error, one
 * of them has a bug, and this function throws an error.
 */
function accepts(spec: StructuralSchema, value: JsonValue): boolean {
  const errors = compileSchema({ type: 'object', properties: { spec } }).validate({ spec: value })
  const difference = errors.find(({ message }) => message.includes('does not match its schema'))
  if (difference !== undefined) throw new Error(difference.message)
  return !errors.some(({ reason }) => reason === 'FieldValueNotSupported')
}

const any: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const number: StructuralSchema = { type: 'number' }

t.test('a number is truncated before the comparison with an integer in the enum', async (t) => {
  const cases: readonly (readonly [schema: StructuralSchema, value: JsonValue, accepted: boolean])[] = [
    [{ ...number, enum: [1, 2] }, 1, true],
    [{ ...number, enum: [1, 2] }, 2.9, true],
    [{ ...number, enum: [1, 2] }, 3.1, false],
    [{ ...number, enum: [-1] }, -1.5, true],
    [{ ...any, enum: [1] }, 1.5, true],
    [{ ...number, enum: [1.5] }, 1, false],
    [{ ...number, enum: [1.5] }, 1.5, true],
    [{ ...any, enum: ['1'] }, 1, false],
    [{ ...any, enum: [true] }, 1, false],
  ]
  for (const [schema, value, accepted] of cases) t.equal(accepts(schema, value), accepted, `${value} of ${JSON.stringify(schema.enum)}`)
})

t.test('an integer is converted to a character before the comparison with a string in the enum', async (t) => {
  const cases: readonly (readonly [allowed: string, value: JsonValue, accepted: boolean])[] = [
    ['A', 65, true],
    ['A', 66, false],
    ['A', 65.5, false],
    ['AB', 65, false],
    ['', 0, false],
    ['\0', 0, true],
    ['👍', 0x1f44d, true],
    ['\ud7ff', 0xd7ff, true],
    ['\ue000', 0xe000, true],
    ['\ufffd', 0xd800, true],
    ['\ufffd', 0xdfff, true],
    ['\ufffd', 0xe000, false],
    ['\u{10ffff}', 0x10ffff, true],
    ['\ufffd', 0x10ffff, false],
    ['\ufffd', 0x110000, true],
    ['\ufffd', -1, true],
    ['\ufffd', 2n ** 60n, true],
    ['A', 2n ** 60n, false],
  ]
  for (const schema of [any, number, { type: 'integer' }] as const)
    for (const [allowed, value, accepted] of cases) {
      if (schema !== any && schema !== number && value === 65.5) continue
      t.equal(accepts({ ...schema, enum: [allowed] }, value), accepted, `${value} of ${JSON.stringify(allowed)}`)
    }
})

t.test('integers beyond 2^53 are compared exactly', async (t) => {
  const large = 2n ** 53n + 1n
  for (const schema of [any, number, { type: 'integer' }] as const) {
    t.ok(accepts({ ...schema, enum: [large] }, large))
    t.notOk(accepts({ ...schema, enum: [large] }, large + 2n))
    t.notOk(accepts({ ...schema, enum: [2 ** 53] }, large))
    t.ok(accepts({ ...schema, enum: [2 ** 60] }, 2n ** 60n))
    t.ok(accepts({ ...schema, enum: [-(2 ** 63)] }, -(2n ** 63n)), 'a float in the enum is compared as a float')
  }
  t.notOk(accepts({ ...number, enum: [1.5] }, large))
})
