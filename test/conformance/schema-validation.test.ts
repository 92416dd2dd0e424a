/** What an API server says about objects of a schema: cases that were found by generating them, each with its whole answer. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
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
    cases.map(([, one], index) => one.old && served.store(index + 1, { metadata: { name: 'a' }, spec: one.old as JsonValue })),
  )
  await served.replace(cases.map(([, { schema }]) => ({ type: 'object', properties: { spec: schema } })))
  const verdicts: Record<string, Verdict> = {}
  for (const [index, [name, one]] of cases.entries()) {
    const [object, old] = [objectOf(one, one.spec), stored[index]]
    const { object: written, ...verdict } = await (old === undefined
      ? served.create(index + 1, object)
      : served.update(index + 1, old, object))
    // The type of the object is the case's number.
    const { apiVersion: _, kind: __, ...rest } = (written ?? {}) as JsonObject
    verdicts[name] = { ...verdict, problems: verdict.problems.map((text) => text.replace(/^Fuzznamed .*?: /, '')), object: rest }
  }
  if (process.env.PRINT) console.error('VERDICTS' + JSON.stringify(verdicts))
  for (const [name] of cases)
    t.same(verdicts[name], { reason: '', problems: [], warnings: [], object: {}, ...expectedVerdicts[name] }, name)
})
