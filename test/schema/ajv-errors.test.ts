import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { buildRootNode } from '../../src/schema/node.ts'
import { explainRefusal } from '../../src/schema/ajv-errors.ts'

const schema: StructuralSchema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } }

t.test("ajv's refusal is reported when the renderer finds no error", async (t) => {
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

t.test("ajv's refusal is dropped for unchanged values and large integers", async (t) => {
  const root = buildRootNode(schema)
  const refusal = { instancePath: '/spec/a', message: 'must be string' }
  const old = { spec: { a: 5 } }
  t.strictSame(explainRefusal(root, refusal, { spec: { a: 5 } }, old), [], 'the value is unchanged')
  t.equal(explainRefusal(root, refusal, { spec: { a: 'x' } }, old).length, 1, 'the value has changed')
  t.strictSame(explainRefusal(root, refusal, { spec: { n: 2n ** 60n } }, undefined), [], 'an integer beyond 2^53')
})

t.test('an error has the path of the value in its object', async (t) => {
  const root = buildRootNode(schema)
  const errorsOf = (instancePath: string, message?: string): unknown =>
    explainRefusal(root, { instancePath, ...(message !== undefined && { message }) }, {}, undefined, 'status').map(
      ({ path, message: text }) => `${path}: ${text}`,
    )
  t.strictSame(errorsOf('/a~01/7x/0', 'must be so'), [
    'status.a~1.7x[0]: Invalid value: "": a~1.7x[0] in body does not match its schema: must be so',
  ])
  t.strictSame(errorsOf(''), ['status: Invalid value: "":  in body does not match its schema: refused'])
})

t.test('the errors of the renderer take precedence', async (t) => {
  const errors = explainRefusal(buildRootNode(schema), { instancePath: '/spec', message: 'something' }, { spec: { a: 5 } }, undefined)
  t.strictSame(
    errors.map(({ path, reason }) => [path, reason]),
    [['spec.a', 'FieldValueTypeInvalid']],
  )
})
