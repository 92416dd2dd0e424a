/**
 * Tests of `proreus validate` with an object whose version is not the storage version. The command validates the object as it is. The
 * command also converts the object to the storage version and validates the converted object.
 */
import t from 'tap'
import { proreus } from '../support/process/process.ts'

const operator = `import { defineConversion, defineKind, defineOperator, defineWebhook, invalid, Type } from 'proreus'

const thing = defineKind({
  group: 'example.com',
  kind: 'Thing',
  versions: [
    { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
    { name: 'v1beta1', spec: Type.Object({ text: Type.String() }) },
  ],
})
export const operator = defineOperator({
  name: 'thing',
  kinds: [thing],
  webhooks: [defineWebhook(thing, { validate: ({ spec }) => (spec.size > 9 ? [invalid('spec.size', spec.size, 'must be small')] : []) })],
  conversions: [
    defineConversion(thing, {
      converters: {
        v1beta1: {
          toHub: ({ spec }) => ({ spec: { size: Number(spec.text) } }),
          fromHub: ({ spec }) => ({ spec: { text: String(spec.size) } }),
        },
      },
    }),
  ],
})
`
const beta = (name: string, text: string): string =>
  `apiVersion: example.com/v1beta1\nkind: Thing\nmetadata: {name: ${name}}\nspec: {text: '${text}'}\n`

t.test('an object of another version is also validated in the storage version', async (t) => {
  const cwd = t.testdir({ 'operator.ts': operator, 'things.yaml': `${beta('small', '9')}---\n${beta('large', '10')}` })
  t.strictSame(await proreus(['validate', '--operators', './operator.ts', 'things.yaml'], { cwd }), {
    code: 1,
    stdout:
      'things.yaml, document 1: Thing "small" is valid\n' +
      'things.yaml, document 2: The Thing "large" is invalid: spec.size: Invalid value: 10: must be small\n',
    stderr: '',
  })
})
