/** Tests of the values that are kept for later evaluations: compiled patterns, date formatters of time zones, and the keys of maps. */
import { RE2JS } from 're2js'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileExpression } from '../../src/cel/environment.ts'
import { dataType } from '../../src/cel/types/data-type.ts'
import { declareType } from '../../src/cel/types/declared-type.ts'
import { stringType } from '../../src/cel/types/types.ts'

function evaluator(source: string): (...values: readonly string[]) => unknown {
  const compiled = compileExpression(source, { a: stringType, b: stringType })
  if ('problem' in compiled) throw new Error(compiled.problem)
  return (...values) => {
    const { value, error } = compiled.expression.evaluate([...values])
    return error?.message ?? value
  }
}

t.test('a pattern is compiled once, until 500 others have been compiled', async (t) => {
  const { compile } = RE2JS
  t.teardown(() => (RE2JS.compile = compile))
  const compiled: string[] = []
  RE2JS.compile = (...args) => {
    compiled.push(args[0])
    return compile(...args)
  }
  // This test counts the patterns that `RE2JS` compiles. The CEL function `matches` compiles simple patterns with `RegExp` instead. The
  // patterns of this test have a repeated group. Such a pattern is not simple, so `RE2JS` compiles it.
  for (const [source, value] of [
    ['a.matches(b)', true],
    ['a.find(b)', 'x0'],
  ] as const) {
    const evaluate = evaluator(source)
    const pattern = (index: number): string => `(?:x${index})+`
    compiled.length = 0
    for (let index = 0; index < 500; index += 1) evaluate('', pattern(index))
    t.equal(compiled.length, 500, source)
    t.equal(evaluate('x0', pattern(0)), value)
    t.equal(compiled.length, 500, `${source}: the first one is known`)
    evaluate('', pattern(500))
    t.equal(evaluate('x0', pattern(0)), value)
    t.strictSame(compiled.slice(500), [pattern(500), pattern(0)], `${source}: the first one is forgotten`)
  }
})

t.test('the formats of a time zone are created once, and no other spelling of it is kept', async (t) => {
  const { DateTimeFormat } = Intl
  t.teardown(() => (Intl.DateTimeFormat = DateTimeFormat))
  const zones: unknown[] = []
  class Counted extends DateTimeFormat {
    constructor(...args: ConstructorParameters<typeof DateTimeFormat>) {
      zones.push(args[1]?.timeZone)
      super(...args)
    }
  }
  Object.assign(Intl, { DateTimeFormat: Counted })
  const evaluate = evaluator('timestamp(a).getHours(b)')
  const hours = ['Asia/Tokyo', 'Europe/Paris', 'Asia/Tokyo'].map((zone) => evaluate('2026-01-01T00:00:00Z', zone))
  t.strictSame(hours, [9, 1, 9])
  // For each new time zone, `locationProblem` creates an `Intl.DateTimeFormat` to check the name. Then `offsetsOf` creates a second
  // `Intl.DateTimeFormat`, which later evaluations reuse.
  t.strictSame(zones.splice(0), ['Asia/Tokyo', 'Asia/Tokyo', 'Europe/Paris', 'Europe/Paris'])
  for (const zone of ['US/Eastern', 'US/Eastern', 'US/EASTERN', 'US/EASTERN', 'US/Eastern'])
    t.equal(evaluate('2026-01-01T00:00:00Z', zone), 19)
  t.strictSame(zones, ['US/Eastern', 'US/Eastern', 'US/EASTERN', 'US/EASTERN'])
  t.equal(evaluate('2026-01-01T00:00:00Z', 'No/Where'), 'unknown time zone No/Where')
})

t.test('the keys of a map are listed once', async (t) => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: { m: { type: 'object', additionalProperties: { type: 'string' } } },
  }
  const compiled = compileExpression("self.m.size() == 2 && self.m.all(k, self.m[k] == 'x') && self.m.size() == 2", {
    self: declareType(schema, 'selfType1')!.type,
  })
  if ('problem' in compiled) throw new Error(compiled.problem)
  let listed = 0
  const ownKeys = (target: object): (string | symbol)[] => {
    listed += 1
    return Reflect.ownKeys(target)
  }
  const object: JsonObject = { m: new Proxy<JsonObject>({ a: 'x', b: 'x' }, { ownKeys }) }
  t.equal(compiled.expression.evaluate([dataType(schema)(object)]).value, true)
  t.equal(listed, 1)
})
