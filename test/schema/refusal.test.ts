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

t.test('but not where ajv alone could not know that it must pass', async (t) => {
  const root = buildRootNode(schema)
  const refusal = { instancePath: '/spec/a', message: 'must be string' }
  const old = { spec: { a: 5 } }
  t.strictSame(explainRefusal(root, refusal, { spec: { a: 5 } }, old), [], 'it is as it was')
  t.equal(explainRefusal(root, refusal, { spec: { a: 'x' } }, old).length, 1, 'nothing is wrong that could be as it was')
  t.strictSame(explainRefusal(root, refusal, { spec: { n: 2n ** 60n } }, undefined), [], 'there is an integer beyond 2^53')
})

t.test('the place of a value in its object is put in front', async (t) => {
  const root = buildRootNode(schema)
  const told = (instancePath: string, message?: string): unknown =>
    explainRefusal(root, { instancePath, ...(message !== undefined && { message }) }, {}, undefined, 'status').map(
      ({ path, message: text }) => `${path}: ${text}`,
    )
  t.strictSame(told('/a~01/7x/0', 'must be so'), [
    'status.a~1.7x[0]: Invalid value: "": a~1.7x[0] in body does not match its schema: must be so',
  ])
  t.strictSame(told(''), ['status: Invalid value: "":  in body does not match its schema: refused'])
})

t.test('what the renderer finds is told instead', async (t) => {
  const errors = explainRefusal(buildRootNode(schema), { instancePath: '/spec', message: 'something' }, { spec: { a: 5 } }, undefined)
  t.strictSame(
    errors.map(({ path, reason }) => [path, reason]),
    [['spec.a', 'FieldValueTypeInvalid']],
  )
})
