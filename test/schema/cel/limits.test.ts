/** What rules may cost, when they are defined and while they run; and that no object can harm who evaluates them. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'
import { checkRules, compileRules } from '../../../src/schema/cel/rules.ts'
import { processorTimeMs } from '../../support/turns.ts'

function listSchema(rule: string, items: StructuralSchema, limits: StructuralSchema = {}): StructuralSchema {
  const list: StructuralSchema = { type: 'array', items, ...limits }
  return { type: 'object', 'x-kubernetes-validations': [{ rule }], properties: { list } }
}

const advice = '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

// Estimates as kube-apiserver 1.36.3 makes them.
const estimates: readonly (readonly [rule: string, maxItems: number, factor: string | undefined])[] = [
  ['self.list.all(x, dyn(x).check(x).errored())', 10, undefined],
  ['self.list.all(x, dyn(x).check(x).errored())', 40, '1.400028x'],
  ['self.list.all(x, self.list.all(y, x == y))', 10, undefined],
  ['self.list.all(x, self.list.all(y, x == y))', 500, '1.125300x'],
  ['self.list.all(x, self.list.all(y, x == y))', 1000, '4.5x'],
  ["self.list.all(x, x.matches('^[a-z0-9]{1,63}$'))", 100, undefined],
  [`self.list.all(x, x.matches('${'a'.repeat(40)}'))`, 1000, undefined],
  [`self.list.all(x, x.matches('${'a'.repeat(4000)}'))`, 1000, '4.1x'],
  [`self.list.all(x, x.matches('${'a'.repeat(8000)}'))`, 1000, '8.2x'],
]

t.test('a rule that may cost too much is refused with how much that is', (t) => {
  for (const [rule, maxItems, factor] of estimates) {
    const errors = checkRules(listSchema(rule, { type: 'string', maxLength: 100 }, { maxItems }), 'schema')
    const [first] = errors
    t.equal(
      first?.message,
      factor === undefined ? undefined : `Forbidden: estimated rule cost exceeds budget by factor of ${factor} ${advice}`,
    )
  }
  t.end()
})

t.test('rules that may cost too much together are named', (t) => {
  const rule = { rule: 'self.all(x, self.all(y, x == y))' }
  const list: StructuralSchema = {
    type: 'array',
    maxItems: 300,
    items: { type: 'string', maxLength: 200 },
    'x-kubernetes-validations': [rule],
  }
  const properties = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`list${index}`, list]))
  const errors = checkRules({ type: 'object', properties }, 'schema')
  const contributed = 'Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  t.equal(errors.filter(({ message }) => message === contributed).length, 4)
  t.match(
    errors.at(-1)?.message,
    'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of',
  )
  t.end()
})

t.test('a rule that costs too much on an object ends the evaluation', (t) => {
  const schema = listSchema('self.list.all(x, self.list.all(y, x == y || x != y))', { type: 'integer' })
  const list = Array.from({ length: 3000 }, (_, index) => index)
  const before = processorTimeMs()
  t.strictSame(compileRules(schema)!.evaluate({ list }), [
    {
      path: '<nil>',
      reason: 'FieldValueInvalid',
      message:
        'Invalid value: "object": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: self.list.all(x, self.list.all(y, x == y || x != y))',
    },
  ])
  t.ok(processorTimeMs() - before < 5000)
  t.end()
})

t.test('the rules of one object have a budget together', (t) => {
  const items: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == self' }] }
  const schema: StructuralSchema = { type: 'object', properties: { list: { type: 'array', items } } }
  // Each comparison costs 2502.
  const errors = compileRules(schema)!.evaluate({ list: Array.from({ length: 4000 }, () => 'x'.repeat(25_000)) })
  t.strictSame(errors, [
    {
      path: 'list[3996]',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will be run',
    },
  ])
  t.end()
})

t.test('values nested deeper than the stack are an error of the object', (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: 'self.a[0] == self.a[1]' }],
    properties: { a: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
  }
  const deep = (depth: number): JsonObject => {
    let value: JsonValue = 1
    for (let level = 0; level < depth; level += 1) value = [value]
    return { value }
  }
  const errors = compileRules(schema)!.evaluate({ a: [deep(100_000), deep(100_000)] })
  t.match(errors[0]?.message, 'value is nested too deep')
  t.end()
})

t.test('names that every JavaScript object has are data', (t) => {
  const text: StructuralSchema = { type: 'string' }
  const properties = Object.fromEntries(['constructor', 'toString'].map((name) => [name, text]))
  const schema: StructuralSchema = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: "!has(self.constructor) && !has(self.toString) || self.constructor == 'a'" }],
    properties,
  }
  t.strictSame(compileRules(schema)!.evaluate({}), [])
  t.strictSame(compileRules(schema)!.evaluate({ constructor: 'a' }), [])
  t.equal(compileRules(schema)!.evaluate({ constructor: 'b' }).length, 1)
  t.end()
})

t.test('a schema without rules has none to evaluate', (t) => {
  t.equal(compileRules({ type: 'object', properties: { a: { type: 'string' } } }), undefined)
  t.end()
})
