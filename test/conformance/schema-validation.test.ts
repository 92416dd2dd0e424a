/** Tests with the named cases of `test/fuzz/cases.ts`. The whole response is compared with the recorded result of kube-apiserver. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { expectedResults } from '../fuzz/expected-results.ts'
import type { NamedCase } from '../fuzz/cases.ts'
import { namedCases } from '../fuzz/cases.ts'
import type { Result } from '../fuzz/servers.ts'
import { namespace, ServedSchemas } from '../fuzz/servers.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

function objectOf({ metadata = { name: 'a' } }: NamedCase, spec: unknown): JsonObject {
  return { metadata, ...(spec === undefined ? {} : { spec: spec as JsonValue }) }
}

function reasonOf(name: string): string {
  const { status } = expectedResults[name] ?? {}
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
  const results: Record<string, Result> = {}
  for (const [index, [name, one]] of cases.entries()) {
    const [object, old] = [objectOf(one, one.spec), stored[index]]
    const result = await (old === undefined ? served.create(index + 1, object) : served.update(index + 1, old, object))
    // apiVersion and kind are not compared, because they contain the number of the case.
    const { apiVersion: _, kind: __, ...rest } = isObject(result.object) ? result.object : {}
    const problems = result.problems.map((text) => text.replace(/^Fuzznamed .*?: /, ''))
    results[name] = { ...result, problems, object: rest as JsonObject }
  }
  for (const [name] of cases)
    t.strictSame(results[name], { problems: [], warnings: [], object: {}, ...expectedResults[name], reason: reasonOf(name) }, name)
})
