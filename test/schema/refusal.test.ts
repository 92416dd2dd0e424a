import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { buildRootNode } from '../../src/schema/node.ts'
import { explainRefusal } from '../../src/schema/refusal.ts'

const schema: StructuralSchema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }

t.test("when the renderer finds nothing, ajv's refusal still stands", async (t) => {
  const root = buildRootNode(schema)
  const valid = { spec: { a: 'x' } }
  t.strictSame(explainRefusal(root, { instancePath: '/spec/list/0/a~1b', message: 'must be cheerful' }, valid, undefined), [
    {
      path: 'spec.list[0].a/b',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "": spec.list[0].a/b in body does not match its schema: must be cheerful',
    },
  ])
  t.strictSame(
    explainRefusal(root, undefined, valid, undefined).map(({ path }) => path),
    ['<nil>'],
  )
})

t.test('what the renderer finds is told instead', async (t) => {
  const errors = explainRefusal(buildRootNode(schema), { instancePath: '/spec', message: 'something' }, { spec: { a: 5 } }, undefined)
  t.strictSame(
    errors.map(({ path, reason }) => [path, reason]),
    [['spec.a', 'FieldValueTypeInvalid']],
  )
})
