/**
 * Tests of validation rules on updates: the old values in rules, and the errors that become warnings if the update does not change the
 * value.
 */
import t from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import type { JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import { compileRules } from '../../src/cel/rules.ts'

const text: StructuralSchema = { type: 'string', maxLength: 20 }
const rules = (...list: (ValidationRule | string)[]): StructuralSchema => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const withSpec = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } })

t.test('an update warns about a messageExpression that costs too much for an unchanged value', (t) => {
  const messageExpression = "[1, 2, 3].all(x, dyn(100).check('a').allowed()) ? 'a' : 'b'"
  const compiled = compileRules(withSpec({ ...text, ...rules({ rule: 'false', messageExpression }) }))!
  const update = (old: string): number[] => {
    const warnings: FieldError[] = []
    const errors = compiled.evaluate({ spec: 'x' }, { spec: old }, (warning) => warnings.push(warning))
    for (const { message } of [...errors, ...warnings]) t.match(message, /call cost exceeds limit for messageExpression/)
    return [errors.length, warnings.length]
  }
  t.strictSame(
    [update('x'), update('y')],
    [
      [0, 1],
      [1, 0],
    ],
  )
  t.end()
})

t.test('old values are only those of an object of the same fields', (t) => {
  const changed: StructuralSchema = { type: 'string', ...rules('self == oldSelf') }
  const errors = (spec: StructuralSchema, now: JsonValue, old: JsonValue): number =>
    compileRules(withSpec(spec))!.evaluate({ spec: now }, { spec: old }).length
  const object: StructuralSchema = { type: 'object', properties: { length: { ...changed, type: 'integer' } } }
  t.equal(errors(object, { length: 5 }, 'abc'), 0, 'a string has a length, but no field')
  t.equal(errors(object, { length: 5 }, ['a']), 0)
  t.equal(errors(object, { length: 5 }, { length: 6 }), 1)
  const map: StructuralSchema = { type: 'object', additionalProperties: changed }
  t.equal(errors(map, { constructor: 'x' } as unknown as JsonValue, {}), 0, 'an inherited property is no old value')
  t.equal(errors(map, { a: 'x' }, { a: 'y' }), 1)
  t.end()
})
