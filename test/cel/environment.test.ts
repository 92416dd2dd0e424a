/** Tests of CEL expressions whose variables have no schema, such as those in match conditions. */
import t from 'tap'
import { dynamicValue } from '../../src/cel/types/dynamic-value.ts'
import { compileExpression } from '../../src/cel/environment.ts'
import { dynType } from '../../src/cel/types/types.ts'

const object = {
  metadata: { name: 'a', labels: { app: 'x' }, generation: 2 ** 60 },
  spec: { replicas: 3, ratio: 0.5, list: [1, 'a', null] },
}

const conditions: readonly (readonly [expression: string, value: boolean | string])[] = [
  ["object.metadata.name == 'a'", true],
  ["has(object.metadata.labels) && 'app' in object.metadata.labels", true],
  ['oldObject == null', true],
  ['object.missing in []', false],
  ['object.spec.replicas > 2 && object.spec.ratio < 1.0', true],
  ['object.metadata.generation == 1152921504606846976', true],
  ["object.spec.list.exists(x, x == 'a')", true],
  ['object.spec.missing == 1', 'no such key: missing'],
  ["object.spec.replicas.startsWith('x')", 'no such overload'],
  // The implementation of `in` checks the types of its operands itself (cel-go `stdlib: inAggregate`). The error therefore contains neither
  // the name of the function nor the types.
  ['1 in object.metadata.name', 'no such overload'],
  ["'a' in object.metadata.name", 'no such overload'],
  ['true in object.spec.replicas', 'no such overload'],
  ["object.metadata.name == 'a' && object.spec.replicas", 'no such overload'],
  ["object.metadata.name == 'b' || object.spec.replicas", 'no such overload'],
]

t.test('match conditions use objects without a schema', (t) => {
  for (const [source, wanted] of conditions) {
    const compiled = compileExpression(source, { object: dynType, oldObject: dynType })
    if ('problem' in compiled) {
      t.fail(compiled.problem)
      continue
    }
    const { value, error } = compiled.expression.evaluate([dynamicValue(object), null])
    t.equal(error?.message ?? value, wanted, source)
  }
  t.end()
})

t.test('the type of the result of a macro has no free variables', (t) => {
  for (const [source, found] of [
    ['[1].map(x, x) && true', "expected type 'bool' but found 'list(int)'"],
    ["{'a': 1}.transformMap(k, v, v) || true", "expected type 'bool' but found 'map(string, int)'"],
    ["[[1].map(x, x), [dyn('a')]]", "expected type 'list(int)' but found 'list(dyn)'"],
  ] as const) {
    const compiled = compileExpression(source, {})
    t.match('problem' in compiled ? compiled.problem : 'compiled', found, source)
  }
  t.end()
})

t.test('an error in an expression is reported with its position', (t) => {
  t.strictSame(compileExpression('object.a == b', { object: dynType }), {
    problem: "compilation failed: ERROR: <input>:1:13: undeclared reference to 'b' (in container '')\n | object.a == b\n | ............^",
  })
  t.end()
})

t.test('an evaluation returns its cost', (t) => {
  const costOf = (source: string): unknown => {
    const compiled = compileExpression(source, { object: dynType })
    return 'expression' in compiled && compiled.expression.evaluate([dynamicValue(object)]).cost
  }
  t.equal(costOf('object.spec.replicas > 1'), 4)
  // Reading a string costs 1 for every ten characters, rounded up.
  for (const [length, cost] of [
    [1, 1],
    [10, 1],
    [11, 2],
    [20, 2],
  ] as const) {
    const literal = `'${'a'.repeat(length)}'`
    t.equal(costOf(`${literal} == ${literal}`), cost, `a comparison of ${length} characters`)
  }
  t.end()
})

t.test('the error of an expression has no stack trace', (t) => {
  const compiled = compileExpression('object.missing', { object: dynType })
  if ('problem' in compiled) throw new Error(compiled.problem)
  const { error } = compiled.expression.evaluate([dynamicValue({})])
  t.equal(error?.message, 'no such key: missing')
  t.notMatch(error?.stack, / at /, 'capturing one is slow')
  t.end()
})

t.test('an evaluation leaves the stack traces of other errors as they are', (t) => {
  const before = Error.stackTraceLimit
  for (const source of ['1 == 1', 'object.missing', '[1].map(x, [x][1])']) {
    const compiled = compileExpression(source, { object: dynType })
    if ('problem' in compiled) throw new Error(compiled.problem)
    compiled.expression.evaluate([dynamicValue({})])
    t.equal(Error.stackTraceLimit, before, source)
  }
  t.end()
})

t.test('a compiled expression can be evaluated again and again', (t) => {
  const compiled = compileExpression('object.l.exists(x, x > 1) && object.l.all(x, x < 5)', { object: dynType })
  if ('problem' in compiled) throw new Error(compiled.problem)
  const evaluate = (...l: number[]): unknown => {
    const { value, cost } = compiled.expression.evaluate([dynamicValue({ l })])
    return { value, cost }
  }
  const first = evaluate(1, 2, 3)
  t.match(first, { value: true })
  t.match(evaluate(1, 9), { value: false })
  t.match(evaluate(), { value: false })
  t.strictSame(evaluate(1, 2, 3), first, 'the cost does not add up')
  t.strictSame([...compiled.expression.used], ['object'])
  t.end()
})

t.test('an error for which the API server panics is ignored by no operator and no macro', (t) => {
  const panic = '{bytes(object.s): 1}.size() == 1'
  for (const source of [
    panic,
    `object.missing || ${panic}`,
    `object.missing && ${panic}`,
    `${panic} || true`,
    `[1, 2].exists(x, x == 2 || ${panic})`,
    `[1, 2].map(x, x == 1 ? object.missing : ${panic})`,
    `[1, 2].filter(x, x == 1 ? object.missing : ${panic})`,
    `object.missing + (${panic} ? 1 : 2)`,
    `[${panic}].sort()`,
  ]) {
    const compiled = compileExpression(source, { object: dynType })
    if ('problem' in compiled) throw new Error(compiled.problem)
    const { error } = compiled.expression.evaluate([dynamicValue({ s: 'a' })])
    t.equal(error?.message, 'internal error: runtime error: hash of unhashable type types.Bytes', source)
  }
  t.end()
})

t.test('a loop over a list or a map ends as soon as its cost exceeds the limit', (t) => {
  const names = Array.from({ length: 2000 }, (_, index) => `n${index}`)
  const object = { list: names, map: Object.fromEntries(names.map((name) => [name, 1])) }
  for (const field of ['list', 'map']) {
    const compiled = compileExpression(`object.${field}.all(x, object.${field}.all(y, true))`, { object: dynType })
    if ('problem' in compiled) throw new Error(compiled.problem)
    const { error, cost } = compiled.expression.evaluate([dynamicValue(object)])
    t.equal(error?.message, 'operation cancelled: actual cost limit exceeded', field)
    t.ok(cost < 1_000_100, `${field}: ${cost}`)
  }
  t.end()
})
