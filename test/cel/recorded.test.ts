/** Compares the values of valid expressions and the problems of invalid expressions with records from kube-apiserver 1.36.3. */
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import t from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import { formatFieldError } from '../../src/api/field-error.ts'
import { parseJson } from '../../src/api/json-reader.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { ruleShapeErrors } from '../../src/cel/rule-shape.ts'
import { checkRules, compileRules } from '../../src/cel/rules.ts'
import { rows as evaluations1 } from './recorded/evaluations-1.ts'
import { rows as evaluations2 } from './recorded/evaluations-2.ts'
import { object, schemaWith } from './recorded/object.ts'
import { rows as problems1 } from './recorded/problems-1.ts'
import { rows as problems2 } from './recorded/problems-2.ts'
import type { RecordedCase } from './recorded/recorded-case.ts'
import { rows as values } from './recorded/values.ts'

const objects = ['objects', 'rules'].flatMap((name) => {
  const lines = readFileSync(new URL(`recorded/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  const cases = lines.map((line) => parseJson(line) as unknown as Omit<RecordedCase, 'schema'> & { schema?: StructuralSchema })
  // A recorded case without a schema has the schema of the previous case.
  let schema: StructuralSchema = {}
  return cases.map((recorded) => {
    schema = recorded.schema ?? schema
    return { ...recorded, schema }
  })
})

/** Removes the number from type names (`selfType…`). This number is the time at which the API server compiled the schema. */
function withoutMoment(text: string): string {
  return text.replace(/selfType\d+/g, 'selfType')
}

t.test('rules are true, false or fail as on the API server', (t) => {
  for (const [rule, message] of [...evaluations1, ...evaluations2]) {
    const [error] = compileRules(schemaWith([{ rule }]))!.evaluate(object)
    t.equal(error?.message, message === null ? undefined : `${message}rule: ${rule}`, rule)
  }
  t.end()
})

t.test('expressions have the values of the API server', (t) => {
  for (const [expression, text] of values) {
    const [error] = compileRules(schemaWith([{ rule: 'false', messageExpression: `'%s'.format([${expression}])` }]))!.evaluate(object)
    t.equal(error?.message, `Invalid value: ${text ?? 'failed rule: false'}`, expression)
  }
  t.end()
})

t.test('an invalid rule is refused with the message of the API server', (t) => {
  for (const [rule, problem] of [...problems1, ...problems2]) {
    const [error] = checkRules(schemaWith([{ rule }]), 'schema')
    t.equal(error?.path, 'schema.x-kubernetes-validations[0].rule', rule)
    t.ok(withoutMoment(error?.message ?? '').endsWith(`: ${withoutMoment(problem)}`), rule, { found: error?.message, wanted: problem })
  }
  t.end()
})

t.test('objects and updates are validated as by the API server', (t) => {
  for (const recorded of objects) validateCase(t, recorded)
  t.end()
})

function validateCase(t: Test, { name, schema, definition = [], object, old, errors = [], warnings = [] }: RecordedCase): void {
  const path = 'spec.validation.openAPIV3Schema'
  const shapes = shapeErrors(schema, path)
  const found = shapes.length > 0 ? shapes : checkRules(schema, path)
  const text = ({ path, reason, message }: FieldError): string => withoutMoment(`${path}: ${reason}: ${message}`)
  t.strictSame(found.map(text).sort(), definition.map(withoutMoment).sort(), `${name}: definition`)
  if (object === undefined) return
  const warned: FieldError[] = []
  const violations = compileRules(schema)?.evaluate(object, old, (warning) => warned.push(warning)) ?? []
  t.strictSame(violations.map(text).sort(), [...errors].sort(), `${name}: errors`)
  t.strictSame(warned.map(formatFieldError).sort(), [...warnings].sort(), `${name}: warnings`)
}

function shapeErrors(schema: StructuralSchema, path: string): FieldError[] {
  const children = Object.entries(schema.properties ?? {})
  return [...ruleShapeErrors(schema, path), ...children.flatMap(([name, child]) => shapeErrors(child, `${path}.properties[${name}]`))]
}
