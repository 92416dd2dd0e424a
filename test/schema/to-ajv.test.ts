import { Ajv } from 'ajv'
import t from 'tap'
import { withBuiltinType } from '../../src/api/builtin-types.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { explain } from '../../src/schema/explain-errors.ts'
import { buildRootNode } from '../../src/schema/node.ts'
import { compileCheck } from '../../src/schema/to-ajv.ts'
import { mistakesIn } from '../support/builtin-types/mistakes.ts'
import { fullSpecs } from '../support/builtin-types/specs.ts'
import { caseArbitrary } from '../fuzz/arbitraries.ts'
import { fc } from '../support/property.ts'

function results(schema: StructuralSchema, object: JsonObject): { ajv: boolean; renderer: boolean } {
  const root = buildRootNode(schema)
  const { errors, lists, resources } = explain(root, object)
  return { ajv: compileCheck(root)(object) === true, renderer: errors.length + lists.length + resources.length === 0 }
}

t.test('ajv accepts an object exactly when the renderer reports no error', async (t) => {
  const seen = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(caseArbitrary, ({ schema, object }) => {
      const { ajv, renderer } = results(schema, object)
      seen[ajv ? 'valid' : 'invalid'] += 1
      return ajv === renderer
    }),
    { numRuns: 1000 },
  )
  t.ok(seen.valid > 200 && seen.invalid > 200, `the generator creates both: ${JSON.stringify(seen)}`)
})

t.test('a schema with the maximum nesting compiles', async (t) => {
  let spec: StructuralSchema = { type: 'string' }
  let value: JsonObject[string] = 'x'
  for (let level = 0; level < 140; level += 1) {
    spec = { type: 'object', properties: { a: spec } }
    value = { a: value }
  }
  const schema: StructuralSchema = { type: 'object', properties: { spec } }
  t.strictSame(results(schema, { spec: value }), { ajv: true, renderer: true })
})

t.test('ajv and the renderer agree on embedded built-in types', async (t) => {
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

t.test('the check of a built-in type is compiled once and called for each of its values', async (t) => {
  const pod = withBuiltinType<StructuralSchema>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'PodSpec')
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`pod${index}`, pod]))
  const source = compileCheck(buildRootNode({ type: 'object', properties })).toString()
  t.notMatch(source, /containers|restartPolicy/)
})

t.test('all schemas share the check of a built-in type', async (t) => {
  const { compile } = Ajv.prototype
  let count = 0
  Ajv.prototype.compile = function (this: Ajv, ...args: [never]) {
    count += 1
    return compile.apply(this, args)
  } as typeof compile
  t.teardown(() => (Ajv.prototype.compile = compile))
  const spec = withBuiltinType<StructuralSchema>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'ServicePort')
  const compiled = (): number => {
    count = 0
    compileCheck(buildRootNode({ type: 'object', properties: { spec } }))
    return count
  }
  compiled()
  t.equal(compiled(), 1)
})
