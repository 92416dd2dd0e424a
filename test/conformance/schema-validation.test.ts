/** What an API server says about objects of a schema: cases that were found by generating them, each with its whole answer. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { apiOf } from '../support/api-request.ts'
import { expectedVerdicts } from '../support/schema-case-verdicts.ts'
import type { NamedCase } from '../support/schema-cases.ts'
import { namedCases } from '../support/schema-cases.ts'
import type { Verdict } from '../support/schema-judges.ts'
import { namespace, ServedSchemas } from '../support/schema-judges.ts'
import { conformanceControlPlane } from './backends.ts'

function objectOf({ metadata = { name: 'a' } }: NamedCase, spec: unknown): JsonObject {
  return { metadata, ...(spec === undefined ? {} : { spec: spec as JsonValue }) }
}

function reasonOf(name: string): string {
  const { status } = expectedVerdicts[name] ?? {}
  return status === 422 ? 'Invalid' : status === 400 ? 'BadRequest' : ''
}

t.test('objects and their schemas', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const cases = Object.entries(namedCases)
  const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const served = await ServedSchemas.install(
    apiOf(t, controlPlane.connection),
    'named',
    cases.map(() => anything),
  )
  t.teardown(() => served.remove())
  const stored = await Promise.all(
    cases.map(async ([, { old }], index) =>
      old === undefined ? undefined : served.store(index + 1, { metadata: { name: 'a' }, spec: old as JsonValue }),
    ),
  )
  await served.replace(cases.map(([, { schema }]) => ({ type: 'object', properties: { spec: schema } })))
  const verdicts: Record<string, Verdict> = {}
  for (const [index, [name, one]] of cases.entries()) {
    const [object, old] = [objectOf(one, one.spec), stored[index]]
    const verdict = await (old === undefined ? served.create(index + 1, object) : served.update(index + 1, old, object))
    // The type of the object is the case's number.
    const { apiVersion: _, kind: __, ...rest } = isObject(verdict.object) ? verdict.object : {}
    const problems = verdict.problems.map((text) => text.replace(/^Fuzznamed .*?: /, ''))
    verdicts[name] = { ...verdict, problems, object: rest as JsonObject }
  }
  for (const [name] of cases)
    t.strictSame(verdicts[name], { problems: [], warnings: [], object: {}, ...expectedVerdicts[name], reason: reasonOf(name) }, name)
})
