/**
 * Compares the compiler and the evaluator with records from the Go packages of kube-apiserver 1.36.3. Each line of a file in
 * `recorded/expressions` is the record of one expression:
 *
 * - invalid expression: `[expression, problem]`
 * - valid expression: `[expression, type, value, cost, least, most]`. `least` and `most` are the minimum and the maximum of the estimated
 *   cost. Expressions of match conditions have no `least` and `most`.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { admissionVariables } from '../../src/cel/admission-variables.ts'
import { dataType } from '../../src/cel/types/data-type.ts'
import { declareType } from '../../src/cel/types/declared-type.ts'
import { dynamicValue } from '../../src/cel/types/dynamic-value.ts'
import type { CompiledExpression } from '../../src/cel/environment.ts'
import { compileExpression } from '../../src/cel/environment.ts'
import { estimateCost } from '../../src/cel/check/estimate.ts'
import type { Type } from '../../src/cel/types/types.ts'
import { fullTypeName } from '../../src/cel/types/types.ts'
import type { Value } from '../../src/cel/types/values.ts'
import { describeValue } from './recorded/describe-value.ts'
import { object as largeObject, schema as largeSchema } from './recorded/large.ts'
import { object as thing, schemaWith } from './recorded/object.ts'
import { authorizer, object as requested, request, requestResource } from './recorded/request.ts'

// The time zone is unusual. If a result depends on the time zone of the machine, the test fails.
process.env.TZ = 'Asia/Kolkata'

type Row = readonly [expression: string, ...rest: readonly (string | number)[]]

/** The variables with which a group of expressions is evaluated. */
interface World {
  readonly variables: Readonly<Record<string, Type>>
  readonly values: () => (Value | undefined)[]
  readonly estimate: (expression: CompiledExpression) => readonly number[]
}

function worldOf(schema: StructuralSchema, object: JsonObject): World {
  const declared = declareType(schema, 'selfType1', true)!
  const self = dataType(schema, true)(object)
  return {
    variables: { self: declared.type, oldSelf: declared.type },
    values: () => [self, undefined],
    estimate: ({ checked }) => {
      const { min, max } = estimateCost(checked, declared)
      return [min, max]
    },
  }
}

const ofThing = worldOf(schemaWith([]), thing)
const ofLarge = worldOf(largeSchema, largeObject)
const ofRequest: World = {
  variables: admissionVariables,
  values: () => [dynamicValue(requested), null, null, dynamicValue(request), authorizer, requestResource],
  estimate: () => [],
}

function evaluate(world: World, source: string): Row {
  const compiled = compileExpression(source, world.variables)
  if ('problem' in compiled) return [source, compiled.problem]
  const { expression } = compiled
  const run = (): Row => {
    const { value, error, cost } = expression.evaluate(world.values())
    return [error === undefined ? describeValue(value!) : `error ${error.message}`, cost]
  }
  const first = run()
  const second = run()
  // A compiled expression must keep no state between evaluations. If the results of the two evaluations differ, the row is marked, and
  // therefore differs from the recorded row.
  const result = isSame(first, second) ? first : second.map((part) => `${part}, the second time`)
  return [source, fullTypeName(expression.type), ...result, ...world.estimate(expression)]
}

const worlds: Readonly<Record<string, World>> = {
  operators: ofThing,
  values: ofThing,
  conversions: ofThing,
  texts: ofThing,
  lists: ofThing,
  macros: ofThing,
  library: ofThing,
  problems: ofThing,
  costs: ofLarge,
  requests: ofRequest,
}

for (const [name, world] of Object.entries(worlds)) {
  t.test(`${name} are those of the API server`, (t) => {
    const lines = readFileSync(new URL(`recorded/expressions/${name}.jsonl`, import.meta.url), 'utf8')
      .trim()
      .split('\n')
    const rows = lines.map((line) => JSON.parse(line) as Row)
    // One assertion covers all rows, because thousands of assertions would take longer than the evaluations.
    const wrong = rows
      .map((recorded) => ({ recorded, found: evaluate(world, recorded[0]) }))
      .filter(({ recorded, found }) => !isSame(recorded, found))
    t.strictSame(wrong, [])
    t.end()
  })
}

function isSame(recorded: Row, found: Row): boolean {
  return recorded.length === found.length && recorded.every((part, index) => part === found[index])
}
