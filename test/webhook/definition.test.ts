import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import { defineCacheIndex } from '../../src/cache/cache-index.ts'
import { combineWebhooks } from '../../src/webhook/combine.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import type { WebhookSettings } from '../../src/webhook/definition.ts'
import { widget } from '../support/webhook-fixture.ts'

const wrong: readonly (readonly [string, WebhookSettings & { subresource?: string }, RegExp])[] = [
  ['a time out of range', { timeoutSeconds: 31 }, /timeoutSeconds: must be a whole number from 1 to 30, found 31/],
  ['no operations', { operations: [] }, /operations: must name one at least/],
  ['a name', { name: 'A b' }, /name: a lowercase RFC 1123 label/],
  ['a subresource', { subresource: 'proxy/x' }, /subresource: a DNS-1035 label/],
  [
    'a label selector',
    { objectSelector: { matchLabels: { 'a b': 'c d' } } },
    /objectSelector\.matchLabels\[a b\]: name part .*valid label/,
  ],
  [
    'values that an operator does not take',
    {
      namespaceSelector: {
        matchExpressions: [
          { key: 'a', operator: 'Exists', values: ['x'] },
          { key: 'b', operator: 'In' },
        ],
      },
    },
    /namespaceSelector\.matchExpressions\[0\]\.values: must not be there with Exists; .*\[1\]\.values: must be there with In/,
  ],
  [
    'a match condition that does not compile',
    { matchConditions: [{ name: 'a', expression: 'object.a ==' }] },
    /matchConditions\[0\]\.expression: compilation failed: ERROR: <input>:1:12: Syntax error/,
  ],
  [
    'a field that a request does not have',
    { matchConditions: [{ name: 'a', expression: 'request.user == "x"' }] },
    /matchConditions\[0\]\.expression: compilation failed: ERROR: <input>:1:8: undefined field 'user'/,
  ],
  [
    'a match condition that is neither true nor false',
    { matchConditions: [{ name: 'a', expression: '1 + 1' }] },
    /matchConditions\[0\]\.expression: must evaluate to bool/,
  ],
  [
    'a variable that webhooks do not have',
    { matchConditions: [{ name: 'a', expression: "namespaceObject.metadata.name == 'x'" }] },
    /matchConditions\[0\]\.expression: namespaceObject is not known to webhooks: use namespaceSelector/,
  ],
  [
    'an empty match condition',
    { matchConditions: [{ name: 'a', expression: ' ' }] },
    /matchConditions\[0\]\.expression: must not be empty/,
  ],
  [
    'two match conditions of one name, and a bad one',
    {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
        { name: '/', expression: 'true' },
      ],
    },
    /matchConditions\[1\]\.name: "a" is there twice; matchConditions\[2\]\.name: prefix part must be non-empty/,
  ],
  [
    'too many match conditions',
    { matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })) },
    /matchConditions: must be 64 at most/,
  ],
  [
    'an index of a type that is not read',
    {
      reads: [configMap],
      indexes: [defineCacheIndex(configMap, 'a', () => 'x'), defineCacheIndex(pod, 'node', ({ spec }) => spec?.nodeName)],
    },
    /not well defined: indexes: "node" is of pods, which is not followed: name it in `reads`\.$/,
  ],
]

for (const [what, settings, message] of wrong) {
  t.test(`${what} is an error at once`, async (t) => {
    t.throws(() => defineWebhook(widget, { validate: () => [], ...settings }), { code: 'PRO_CONFIG_INVALID', message })
  })
}

t.test('conditions may ask for everything that the API server knows', async (t) => {
  const expressions = [
    "object.metadata.namespace != 'kube-system' && (oldObject == null || has(oldObject.spec))",
    "request.operation in ['CREATE', 'UPDATE'] && 'system:nodes' in request.userInfo.groups && !request.dryRun",
    "authorizer.group('apps').resource('deployments').namespace(request.namespace).check('create').allowed()",
    "authorizer.requestResource.check('breakglass').allowed()",
  ]
  t.doesNotThrow(() =>
    defineWebhook(widget, { matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })) }),
  )
})

t.test('a type without a schema needs a handler', async (t) => {
  t.throws(() => defineWebhook(pod), { code: 'PRO_CONFIG_INVALID', message: /The webhook for Pod has no handlers/ })
  t.throws(() => defineWebhook(widget, { subresource: 'scale' }), { message: /no handlers/ })
  t.doesNotThrow(() => defineWebhook(widget))
})

t.test('what would never be asked is refused', async (t) => {
  const expected = { code: 'PRO_CONFIG_INVALID', message: /must name DELETE in its operations and have a validateDelete, or neither/ }
  t.throws(() => defineWebhook(widget, { operations: ['CREATE', 'DELETE'], validate: () => [] }), expected)
  t.throws(() => defineWebhook(widget, { operations: ['CREATE'], validateDelete: () => [] }), expected)
  t.doesNotThrow(() => defineWebhook(widget, { operations: ['DELETE'], validateDelete: () => [] }))
})

t.test('handlers may be methods of an object', async (t) => {
  class Limits {
    readonly max = 3
    validate(): [] {
      return this.max === 3 ? [] : []
    }
  }
  const [combined] = combineWebhooks([defineWebhook(pod, new Limits())])
  t.strictSame(combined!.handlers.CREATE[0]!.handlers.validate!({}, undefined, {} as never), [])
})
