/** Tests of the limits on the estimated and the actual cost of rules, and of the protection against hostile objects. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { formatValue } from '../../src/api/field-error.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import { compileExpression } from '../../src/cel/environment.ts'
import { AuthorizerValue, ResourceCheck } from '../../src/cel/library/authorization.ts'
import { compileMatchCondition, evaluateMatchConditions } from '../../src/cel/match-conditions.ts'
import { checkRules, compileRules } from '../../src/cel/rules.ts'
import { dynamicValue } from '../../src/cel/types/dynamic-value.ts'
import { dynType } from '../../src/cel/types/types.ts'
import { processorTimeMs } from '../support/turns.ts'

function listSchema(rule: string, items: StructuralSchema, limits: StructuralSchema = {}): StructuralSchema {
  const list: StructuralSchema = { type: 'array', items, ...limits }
  return { type: 'object', 'x-kubernetes-validations': [{ rule }], properties: { list } }
}

const advice = '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

// Rules on a list with `maxItems`. `factor` is the estimated cost divided by the limit, as in the error of kube-apiserver 1.36.3. It is
// undefined when kube-apiserver accepts the rule.
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

t.test('a rule with an excessive estimated cost is refused with the factor', (t) => {
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

t.test('a rule is estimated for as many values as a request has room for', (t) => {
  const factorOf = (schema: StructuralSchema): string | undefined =>
    /by factor of (.*?) /.exec(checkRules({ type: 'object', properties: { a: schema } }, 'schema')[0]?.message ?? '')?.[1]
  // The rule costs 1004: 2 for the two uses of `self`, 2 for the two field selections, and 1000 for the comparison. A comparison costs 1
  // for every ten bytes. kube-apiserver assumes 10,000 bytes for the string, because maxLength allows 2500 characters, and a character has
  // up to four bytes.
  const name = 'n'.repeat(294)
  const item: StructuralSchema = {
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'string', maxLength: 2500 } },
    'x-kubernetes-validations': [{ rule: `self.${name} == self.${name}` }],
  }
  // kube-apiserver assumes at least 303 bytes of JSON for an item: 294 for the field name, 4 for the quotes of the name and of the value, 2
  // for the braces, 1 for the colon, 1 for a comma after the field, and 1 for a comma after the item. A request of 3 MiB therefore has room
  // for 10,381 items.
  const most = `${((1004 * 10_381) / 10_000_000).toFixed(6)}x`
  t.equal(factorOf({ type: 'array', items: item }), most)
  t.equal(factorOf({ type: 'object', additionalProperties: item }), most)
  t.equal(factorOf({ type: 'array', items: item, maxItems: 9000 }), undefined)
  const few: StructuralSchema = { type: 'array', items: item, maxItems: 2 }
  t.equal(factorOf({ type: 'array', items: few }), most, 'a limit within a list without one does not matter')
  t.equal(factorOf({ type: 'object', additionalProperties: { type: 'object', properties: { l: few } } }), most)
  t.equal(factorOf({ type: 'array', maxItems: 3, items: few }), undefined)
  t.equal(factorOf({ type: 'array', maxItems: 6000, items: few }), `${((1004 * 12_000) / 10_000_000).toFixed(6)}x`)
  const many: StructuralSchema = { type: 'array', items: item, maxItems: 20_000 }
  const manyTimes = (limit: number): StructuralSchema[] => [
    { type: 'array', items: many, maxItems: limit },
    { type: 'object', additionalProperties: many, maxProperties: limit },
  ]
  for (const schema of manyTimes(1)) t.equal(factorOf(schema), '2.0x')
  for (const schema of [...manyTimes(0), ...manyTimes(-1)]) t.equal(factorOf(schema), undefined, 'a list that is always empty')
  t.end()
})

t.test('rules whose estimated costs exceed the total budget are named', (t) => {
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

t.test('the most expensive rules are named, unless they contribute less than 1 % of the total budget', (t) => {
  /**
   * Returns the schema of a string with a rule. The estimated cost of the rule is `cost`: 2 for the two variables, and the rest for the
   * comparison.
   */
  const costing = (cost: number): StructuralSchema => ({
    type: 'string',
    maxLength: (cost - 2) * 2.5,
    'x-kubernetes-validations': [{ rule: 'self == self' }],
  })
  const errorsOf = (costs: readonly number[]): string[] => {
    const properties = Object.fromEntries(costs.map((cost, index) => [`f${index}`, costing(cost)]))
    return checkRules({ type: 'object', properties }, 'schema').map((error) => `${error.path}: ${error.message}`)
  }
  const named = (...fields: readonly string[]): string[] =>
    fields.map(
      (field) =>
        `schema.properties[${field}].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    )
  const total = (factor: string): string =>
    `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of ${factor} ${advice}`
  const large = 9_900_000
  t.strictSame(errorsOf([large, large + 3000, large, large + 2000, large + 4000, large, large, large + 1000, large, large, large]), [
    ...named('f4', 'f1', 'f3', 'f7'),
    total('1.089100x'),
  ])
  t.strictSame(errorsOf(Array.from({ length: 10 }, () => 10_000_000)), [], 'the budget is used up')
  t.strictSame(errorsOf([...Array.from({ length: 10 }, () => 10_000_000), 12]), [...named('f0', 'f1', 'f2', 'f3'), total('1.000000x')])
  const many = Array.from({ length: 150 }, () => 999_990)
  t.strictSame(errorsOf([...many, 1_000_000, 1_000_010]), [...named('f151', 'f150'), total('1.5x')])
  t.end()
})

t.test('a rule that exceeds its cost limit ends the evaluation', (t) => {
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

t.test('the rules of one object share a budget', (t) => {
  const items: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == self' }] }
  const schema: StructuralSchema = { type: 'object', properties: { list: { type: 'array', items } } }
  // The rule costs 2502 for each item, so the budget of 10,000,000 is enough for 3996 items.
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

// The cost of a messageExpression is deducted from the budget (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel:
// evalMessageExpression`).
t.test('rules and their messageExpressions share a budget', (t) => {
  const failing = { rule: "self == 'a'" }
  const costOf = (rule: ValidationRule): number =>
    1000 - compileRules({ type: 'string', 'x-kubernetes-validations': [rule] }, false)!.evaluateDefault('b', '', 1000).left
  const explained = { ...failing, messageExpression: "'not ' + self" }
  const [ruleCost, bothCost] = [costOf(failing), costOf(explained)]
  t.ok(bothCost > ruleCost, 'a messageExpression has a cost')
  const items: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [explained] }
  const list = compileRules({ type: 'array', items }, false)!
  const errorsOf = (budget: number): string[] =>
    list.evaluateDefault(['b', 'b', 'b', 'b'], '', budget).errors.map(({ path, message }) => `${path}: ${message}`)
  const reported = ['[0]: Invalid value: "b": not b', '[1]: Invalid value: "b": not b']
  const exhausted = (what: string): string =>
    `[2]: Invalid value: "string": ${what} failed due to running out of cost budget, no further validation rules will be run`
  t.strictSame(errorsOf(2 * bothCost), [...reported, exhausted('validation')])
  t.strictSame(errorsOf(2 * bothCost + ruleCost), [...reported, exhausted('messageExpression evaluation')])
  t.strictSame(errorsOf(3 * bothCost - 1), [...reported, exhausted('messageExpression evaluation')])
  t.end()
})

t.test('a budget of exactly the cost is enough', (t) => {
  const spec: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'x'" }, { rule: "self.startsWith('a')" }] }
  const compiled = compileRules(spec, false)!
  const { errors, left } = compiled.evaluateDefault('abc', 'default', 1000)
  t.strictSame(errors, [])
  const cost = 1000 - left
  t.ok(cost >= 2)
  t.strictSame(compiled.evaluateDefault('abc', 'default', cost), { errors: [], left: 0 })
  const exhausted = {
    path: 'default',
    reason: 'FieldValueInvalid',
    message: 'Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will be run',
  }
  for (const budget of [cost - 1, 1, 0, -1]) {
    const result = compiled.evaluateDefault('abc', 'default', budget)
    t.strictSame(result.errors, [exhausted], `${budget}`)
    t.equal(result.left, -1, `${budget}`)
  }
  const least = compileRules({ type: 'boolean', 'x-kubernetes-validations': [{ rule: 'self' }] }, false)!
  t.strictSame(least.evaluateDefault(true, 'default', 1), { errors: [], left: 0 }, 'a variable costs 1')
  t.strictSame(least.evaluateDefault(true, 'default', 0).left, -1)
  const free = compileRules({ type: 'boolean', 'x-kubernetes-validations': [{ rule: 'true' }] }, false)!
  t.strictSame([free.evaluateDefault(true, 'default', 1).left, free.evaluateDefault(true, 'default', 0).left], [1, -1])
  t.end()
})

t.test('nothing is evaluated after the rule for which the budget is too small', (t) => {
  const ruled: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [{ rule: "self == 'a' || self == 'b'" }] }
  const first: Readonly<Record<string, readonly [StructuralSchema, JsonValue]>> = {
    'a[0]': [{ type: 'array', items: ruled }, ['c', 'c']],
    'a[k]': [
      { type: 'object', additionalProperties: ruled },
      { k: 'c', l: 'c' },
    ],
    'a.k': [
      { type: 'object', properties: { k: ruled, l: ruled } },
      { k: 'c', l: 'c' },
    ],
    a: [{ ...ruled, 'x-kubernetes-validations': [...ruled['x-kubernetes-validations']!, { rule: 'false' }] }, 'c'],
  }
  for (const [path, [schema, value]] of Object.entries(first)) {
    const compiled = compileRules({ type: 'object', properties: { a: schema, b: ruled } }, false)!
    const { errors, left } = compiled.evaluateDefault({ a: value, b: 'c' }, '', 1)
    t.strictSame([errors.map((error) => error.path), left], [[path], -1], path)
    t.match(errors[0]?.message, /validation failed due to running out of cost budget/)
  }
  const list = compileRules({ type: 'array', items: ruled }, false)!
  const cost = 1000 - list.evaluateDefault(['c'], '', 1000).left
  for (const budget of [cost, cost + 1])
    t.strictSame(
      list.evaluateDefault(['c', 'c', 'c'], '', budget).errors.map(({ path, message }) => `${path}: ${message}`),
      [
        `[0]: Invalid value: "c": failed rule: self == 'a' || self == 'b'`,
        '[1]: Invalid value: "string": validation failed due to running out of cost budget, no further validation rules will be run',
      ],
      'the errors found before are reported, too',
    )
  t.end()
})

t.test('a default costs as much as its more expensive evaluation: as an unchanged value or as a new one', (t) => {
  const leftAfter = (...rules: ValidationRule[]): number =>
    compileRules({ type: 'string', 'x-kubernetes-validations': rules }, false)!.evaluateDefault('abc', 'default', 1000).left
  const plain = { rule: "self != 'x'" }
  t.ok(leftAfter(plain, { rule: 'self == oldSelf' }) < leftAfter(plain), 'a transition rule is evaluated on an unchanged value only')
  const whenNew = (rule: string): ValidationRule => ({ rule: `oldSelf.hasValue() || ${rule}`, optionalOldSelf: true })
  t.ok(leftAfter(whenNew('self.startsWith(self)')) < leftAfter(whenNew('true')), 'the rest is evaluated for a new value only')
  t.end()
})

/** Returns a length. If `a` is a string of this length, the evaluation of `a == a` has the cost `cost`. */
function lengthForCost(cost: number): number {
  const compiled = compileExpression('a == a', { a: dynType })
  const overhead = 'expression' in compiled ? compiled.expression.evaluate(['x'.repeat(10)]).cost - 1 : 0
  return (cost - overhead) * 10
}

t.test('one evaluation may cost a million', (t) => {
  const schema: StructuralSchema = { type: 'string', 'x-kubernetes-validations': [{ rule: 'dyn(self) == self' }] }
  const compiled = compileExpression('a == a', { a: dynType })
  if ('problem' in compiled) throw new Error(compiled.problem)
  const length = lengthForCost(1_000_000)
  const evaluate = (length: number): unknown => {
    const { value, error } = compiled.expression.evaluate(['x'.repeat(length)])
    return error?.message ?? value
  }
  t.equal(evaluate(length), true)
  t.equal(evaluate(length + 1), 'operation cancelled: actual cost limit exceeded')
  t.match(
    compileRules(schema, false)!.evaluate('x'.repeat(length + 10) as unknown as JsonObject)[0]?.message,
    /call cost exceeds limit for rule/,
  )
  t.end()
})

t.test('the conditions of one webhook share a budget of 2.5 million', (t) => {
  const authorizer = new AuthorizerValue({ username: 'jane', groups: [] }, () => ({ allowed: true, reason: '' }))
  const target = { group: '', resource: 'pods', subresource: '', namespace: 'n', name: 'a' }
  const input = { oldObject: undefined, request: {}, authorizer, requestResource: new ResourceCheck(authorizer, target) }
  const conditions = Array.from({ length: 4 }, () => compileMatchCondition('object.a == object.a'))
  const [condition] = conditions
  if (condition === undefined || 'problem' in condition) throw new Error('the condition does not compile')
  const overhead = condition.expression.evaluate([dynamicValue({ a: 'x'.repeat(10) })]).cost - 1
  const length = (2_500_000 / 4 - overhead) * 10
  t.equal(evaluateMatchConditions(conditions, { ...input, object: { a: 'x'.repeat(length) } }), undefined)
  t.strictSame(evaluateMatchConditions(conditions, { ...input, object: { a: 'x'.repeat(length + 1) } }), {
    error: 'validation failed due to running out of cost budget, no further validation rules will be run',
  })
  t.end()
})

t.test('a message of messageExpression has 5120 bytes at most, and one line', (t) => {
  const validation = { rule: 'false', message: 'the message', messageExpression: 'self' }
  const compiled = compileRules({ type: 'string', 'x-kubernetes-validations': [validation] }, false)!
  const detailOf = (value: string): string => {
    const [error] = compiled.evaluateDefault(value, 'a').errors
    return error!.message.slice(`Invalid value: ${formatValue(value)}: `.length)
  }
  for (const text of ['x'.repeat(5120), 'é'.repeat(2560), 'a\rb']) t.equal(detailOf(text), text)
  for (const text of ['x'.repeat(5121), 'é'.repeat(2561), '', '  ', 'a\nb']) t.equal(detailOf(text), 'the message')
  t.equal(detailOf(' a \n'), 'a', 'without white space around it')
  t.equal(detailOf(`${'x'.repeat(5120)}  `), 'x'.repeat(5120))
  t.end()
})

t.test('values nested deeper than the stack are reported as an error of the object', (t) => {
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

t.test('names of inherited JavaScript properties are data', (t) => {
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
  const reading = { ...schema, 'x-kubernetes-validations': [{ rule: "self.constructor == 'a'" }] }
  t.match(compileRules(reading)!.evaluate({})[0]?.message, 'no such key: constructor')
  t.end()
})

t.test('a schema without rules has no program', (t) => {
  t.equal(compileRules({ type: 'object', properties: { a: { type: 'string' } } }), undefined)
  t.end()
})

const deepest: Record<string, (levels: number) => string> = {
  parentheses: (levels) => `${'('.repeat(levels)}1${')'.repeat(levels)}`,
  calls: (levels) => `${'dyn('.repeat(levels)}1${')'.repeat(levels)}`,
  conditions: (levels) => `${'true ? 1 : '.repeat(levels)}1`,
  // The innermost pair of brackets is the empty list that is nested `levels` deep.
  lists: (levels) => `${'['.repeat(levels + 1)}${']'.repeat(levels + 1)}`,
}

t.test('expressions are nested 250 deep at most', (t) => {
  for (const [what, nested] of Object.entries(deepest)) {
    t.notOk('problem' in compileExpression(nested(249), {}), `249 ${what}`)
    const problem = 'compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250'
    t.strictSame(compileExpression(nested(250), {}), { problem }, `250 ${what}`)
  }
  for (const step of ['.a', '[0]']) {
    const ways = (steps: number): ReturnType<typeof compileExpression> => compileExpression(`a${step.repeat(steps)}`, { a: dynType })
    t.hasOwnProp(ways(250), 'expression', `250 times ${step}`)
    t.strictSame(ways(251), { problem: 'compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded' }, `251 times ${step}`)
  }
  // The recursion limit applies separately to each of the two chains of field selections, because neither chain contains the other.
  t.hasOwnProp(compileExpression(`[a${'.a'.repeat(200)}, a${'.a'.repeat(200)}]`, { a: dynType }), 'expression')
  t.end()
})

t.test('an expression has 100,000 characters at most', (t) => {
  const textOf = (characters: number): string => `'${'👑'.repeat(characters - 2)}'`
  t.hasOwnProp(compileExpression(textOf(100_000), {}), 'expression')
  const problem = 'compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000'
  t.strictSame(compileExpression(textOf(100_001), {}), { problem })
  t.end()
})

t.test('up to a hundred problems are reported, with the source unless its line is too long', (t) => {
  const unknown = (count: number): string[] => {
    const compiled = compileExpression(Array.from({ length: count }, () => 'zz').join(' +\n'), {})
    return 'problem' in compiled ? compiled.problem.split('\n') : []
  }
  const last = ["ERROR: <input>:100:1: undeclared reference to 'zz' (in container '')", ' | zz', ' | ^']
  t.strictSame(unknown(100).slice(-3), last)
  t.equal(unknown(100).length, 300)
  t.strictSame(unknown(103).slice(-2), [' | ^', '3 more errors were truncated'])
  t.equal(unknown(103).length, 301)
  const problem = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'zz' (in container '')"
  const long = `zz + '${'a'.repeat(16_384 - 7)}'`
  t.strictSame(compileExpression(long, {}), { problem: `${problem}\n | ${long}\n | ^` })
  t.strictSame(compileExpression(`${long} `, {}), { problem })
  t.strictSame(compileExpression("\t'é' +\tzz\n\t\t+ '👑' + yy", {}), {
    problem: [
      "compilation failed: ERROR: <input>:1:8: undeclared reference to 'zz' (in container '')\n |  'é' + zz\n | ..．....^",
      "ERROR: <input>:2:11: undeclared reference to 'yy' (in container '')\n |   + '👑' + yy\n | .....．....^",
    ].join('\n'),
  })
  t.end()
})
