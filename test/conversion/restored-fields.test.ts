/**
 * Tests of two special cases of a conversion:
 *
 * - An annotation contains a field of one version. If the restored field would change the spec or status in the other version, the field is
 *   not restored.
 * - A converter throws an error for an object. If the object lacks a required field, the error is ignored. If the object only violates a
 *   rule of the schema, the conversion fails.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { converting, jobConversion, jobOf } from '../support/conversion/fixture.ts'

const hub = 'conversion.example.com/v1'

t.test('kept fields are not restored if they change the status in the other version', async (t) => {
  const spokes = new Map([
    [
      'v1beta1',
      {
        toHub: () => ({ spec: { schedule: {} }, status: {} }),
        fromHub: ({ status }: JsonObject) => ({ spec: { cron: 'x' }, status }),
      },
    ],
  ])
  const reported: string[] = []
  const metadata = { name: 'a', annotations: { [hub]: '{"fields":{"status":{"fields":{"phase":{"value":"Running"}}}}}' } }
  const converted = await converting({ ...jobConversion, spokes })(jobOf('v1beta1', { cron: 'x' }, { metadata }), 'v1', {
    unkept: ({ reason }) => void reported.push(reason),
  })
  t.strictSame([converted.status, reported], [{}, ['not accepted']])
})

t.test('an object that violates a rule is not partial, even if the reason is FieldValueRequired', async (t) => {
  const spec = Type.Object(
    { a: Type.Optional(Type.String()) },
    { rules: [{ rule: 'has(self.a)', reason: 'FieldValueRequired', message: 'needs a' }] },
  )
  const kind = defineKind({
    group: 'example.com',
    kind: 'Ruled',
    versions: [
      { name: 'v2', storage: true, spec: Type.Object({ b: Type.String() }) },
      { name: 'v1', spec },
    ],
  })
  const failing = (): never => {
    throw new Error('no a')
  }
  const convert = converting(defineConversion(kind, { converters: { v1: { toHub: failing, fromHub: failing } }, lossless: false }))
  await t.rejects(convert({ apiVersion: 'example.com/v1', kind: 'Ruled', metadata: { name: 'a' }, spec: {} }, 'v2'), { message: 'no a' })
})
