import t from 'tap'
import { withBuiltinType } from '../../src/api/builtin-types.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { explain } from '../../src/schema/explain.ts'
import { buildRootNode } from '../../src/schema/node.ts'
import { compileCheck } from '../../src/schema/translate.ts'
import { mistakesIn } from '../support/builtin-mistakes.ts'
import { fullSpecs } from '../support/builtin-specs.ts'
import { caseArbitrary } from '../support/schema-arbitraries.ts'
import { fc } from '../support/property.ts'

function verdicts(schema: StructuralSchema, object: JsonObject): { ajv: boolean; renderer: boolean } {
  const root = buildRootNode(schema)
  const { errors, lists, resources } = explain(root, object)
  return { ajv: compileCheck(root)(object) === true, renderer: errors.length + lists.length + resources.length === 0 }
}

t.test('ajv accepts exactly what the renderer finds nothing wrong with', async (t) => {
  const seen = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(caseArbitrary, ({ schema, object }) => {
      const { ajv, renderer } = verdicts(schema, object)
      seen[ajv ? 'valid' : 'invalid'] += 1
      return ajv === renderer
    }),
    { numRuns: 1000 },
  )
  t.ok(seen.valid > 200 && seen.invalid > 200, `the generator makes both: ${JSON.stringify(seen)}`)
})

t.test('a schema that is nested as deep as it may be compiles', async (t) => {
  let spec: StructuralSchema = { type: 'string' }
  let value: JsonObject[string] = 'x'
  for (let level = 0; level < 140; level += 1) {
    spec = { type: 'object', properties: { a: spec } }
    value = { a: value }
  }
  const schema: StructuralSchema = { type: 'object', properties: { spec } }
  t.strictSame(verdicts(schema, { spec: value }), { ajv: true, renderer: true })
})

t.test('so it is with embedded built-in types', async (t) => {
  const seen = { valid: 0, invalid: 0 }
  for (const { type, spec } of fullSpecs) {
    const root = buildRootNode({ type: 'object', properties: { spec: withBuiltinType<StructuralSchema>({ type: 'object' }, type) } })
    const check = compileCheck(root)
    t.equal(check({ spec }), true, type)
    for (const { what, path, value } of mistakesIn(type, spec)) {
      const valid = check({ spec: value }) === true
      seen[valid ? 'valid' : 'invalid'] += 1
      if (valid !== (explain(root, { spec: value }).errors.length === 0)) t.fail(`${type}: ${what} at ${path}`)
    }
  }
  t.ok(seen.valid > 500 && seen.invalid > 1000, JSON.stringify(seen))
})

t.test('the check of a built-in type is made once, and called where its values stand', async (t) => {
  const pod = withBuiltinType<StructuralSchema>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'PodSpec')
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`pod${index}`, pod]))
  const source = compileCheck(buildRootNode({ type: 'object', properties })).toString()
  t.notMatch(source, /containers|restartPolicy/)
})
