import t from 'tap'
import { configMap, pod } from '../../../src/api/builtin.ts'
import { defineCacheIndex } from '../../../src/cache/cache-index.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook, operationsOf } from '../../../src/webhook/definition/definition.ts'
import type { WebhookSettings } from '../../../src/webhook/definition/definition.ts'
import { widget } from '../../support/webhook/fixture.ts'

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
    /invalid: indexes: "node" is on pods, which is not watched: name it in `reads`\.$/,
  ],
]

for (const [what, settings, message] of wrong) {
  t.test(`${what} is refused when the webhook is defined`, async (t) => {
    t.throws(() => defineWebhook(widget, { validate: () => [], ...settings }), { code: 'PRO_CONFIG_INVALID', message })
  })
}

/** Invalid definitions of webhooks. Only JavaScript programs can contain them, because the TypeScript compiler rejects them. */
const misshapen: readonly (readonly [object, string])[] = [
  [{ validates: () => [] }, 'validates: unknown field; did you mean validate?'],
  [{ default: 1 }, 'default: must be a function, found 1'],
  [{ validate: 1 }, 'validate: must be a function, found 1'],
  [{ validateInCluster: 1 }, 'validateInCluster: must be a function, found 1'],
  [{ validateDelete: 1 }, 'validateDelete: must be a function, found 1'],
  [{ name: 1 }, 'name: must be a string, found 1'],
  [{ subresource: 1 }, 'subresource: must be a string, found 1'],
  [{ scope: 'namespaced' }, 'scope: must be one of "Namespaced", "Cluster", "*", found "namespaced"'],
  [{ matchPolicy: 'exact' }, 'matchPolicy: must be one of "Exact", "Equivalent", found "exact"'],
  [{ operations: ['PATCH'] }, 'operations[0]: must be one of "CREATE", "UPDATE", "DELETE", "CONNECT", found "PATCH"'],
  [{ failurePolicy: 'fail' }, 'failurePolicy: must be one of "Fail", "Ignore", found "fail"'],
  [{ sideEffects: 'Some' }, 'sideEffects: must be one of "None", "NoneOnDryRun", found "Some"'],
  [{ reinvocationPolicy: 'Always' }, 'reinvocationPolicy: must be one of "Never", "IfNeeded", found "Always"'],
  [{ refuseInvalidEarly: 'no' }, 'refuseInvalidEarly: must be true or false, found "no"'],
  [{ matchConditions: [{ name: 'a' }] }, 'matchConditions[0].expression: is missing'],
  [{ matchConditions: [{ expression: 'true' }] }, 'matchConditions[0].name: is missing'],
  [
    { matchConditions: [{ name: 1, expression: 2 }] },
    'matchConditions[0].name: must be a string, found 1; matchConditions[0].expression: must be a string, found 2',
  ],
  [{ objectSelector: { labels: {} } }, 'objectSelector.labels: unknown field'],
  [{ namespaceSelector: [] }, 'namespaceSelector: must be an object, found a list'],
  [{ reads: [{}] }, 'reads[0]: must be a type, such as core.pod, or what defineKind returns, found an object'],
  [{ indexes: configMap }, 'indexes: must be a list, found an object'],
  [{ rbac: {} }, 'rbac: must be a list, found an object'],
]

function refusalOf(definition: object): unknown {
  try {
    return defineWebhook(widget, definition)
  } catch (error) {
    return (error as Error).message
  }
}

t.test('a definition of the wrong shape is refused with the path of the mistake', async (t) => {
  for (const [definition, problem] of misshapen) {
    const about = `Widget.apps.example.com${'subresource' in definition ? '/1' : ''}`
    t.equal(refusalOf(definition), `The webhook for ${about} is invalid: ${problem}.`)
  }
  t.throws(() => defineWebhook(widget, Object.assign(new (class Limits {})(), { scope: 'x' as never })), {
    message: /: scope: must be one of /,
  })
})

t.test('timeoutSeconds is a whole number from 1 to 30', async (t) => {
  for (const timeoutSeconds of [1, 30]) t.equal(defineWebhook(widget, { timeoutSeconds }).settings.timeoutSeconds, timeoutSeconds)
  for (const timeoutSeconds of [0, 31, 1.5, -1, '10' as never])
    t.throws(() => defineWebhook(widget, { timeoutSeconds }), {
      message: `The webhook for Widget.apps.example.com is invalid: timeoutSeconds: must be a whole number from 1 to 30, found ${timeoutSeconds}.`,
    })
})

t.test('all mistakes of a webhook are reported at once, with the subresource', async (t) => {
  t.throws(
    () =>
      defineWebhook(widget, {
        subresource: 'scale',
        validate: () => [],
        name: '-',
        operations: [],
        timeoutSeconds: 0,
        objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
        namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
        matchConditions: [{ name: 'a', expression: '' }],
        indexes: [defineCacheIndex(pod, 'node', ({ spec }) => spec?.nodeName)],
      }),
    {
      message: new RegExp(
        [
          /^The webhook for Widget\.apps\.example\.com\/scale is invalid: name: a lowercase RFC 1123 label .*; /,
          /operations: must name one at least; timeoutSeconds: must be a whole number from 1 to 30, found 0; /,
          /objectSelector\.matchExpressions\[0\]\.values: must be there with In; /,
          /namespaceSelector\.matchExpressions\[0\]\.values: must not be there with Exists; /,
          /matchConditions\[0\]\.expression: must not be empty; indexes: "node" is on pods, .*\.$/,
        ]
          .map(({ source }) => source)
          .join(''),
      ),
    },
  )
})

t.test('a webhook may have 64 match conditions', async (t) => {
  const conditions = (count: number): object => ({
    matchConditions: Array.from({ length: count }, (_, index) => ({ name: `c${index}`, expression: ' true ' })),
  })
  t.doesNotThrow(() => defineWebhook(widget, conditions(64)))
  t.throws(() => defineWebhook(widget, conditions(65)), { message: /: matchConditions: must be 64 at most\.$/ })
})

t.test('a webhook definition is frozen, with its handlers beside its settings', async (t) => {
  const settings = { validate: () => [], subresource: 'exec', name: 'a' } as const
  const webhook = defineWebhook(pod, settings)
  t.strictSame({ ...webhook }, { type: pod, subresource: 'exec', handlers: settings, settings })
  t.ok(Object.isFrozen(webhook))
  t.equal(defineWebhook(widget).subresource, '')
})

t.test('the operations of a webhook default to those of its handlers', async (t) => {
  const none = (): [] => []
  const cases: readonly (readonly [Parameters<typeof defineWebhook>[0], object, readonly string[]])[] = [
    [widget, {}, ['CREATE', 'UPDATE']],
    [widget, { validateDelete: none }, ['CREATE', 'UPDATE', 'DELETE']],
    [pod, { default: none }, ['CREATE', 'UPDATE']],
    [pod, { validate: none }, ['CREATE', 'UPDATE']],
    [pod, { validateInCluster: none }, ['CREATE', 'UPDATE']],
    [pod, { validateDelete: none }, ['DELETE']],
    [pod, { validate: none, validateDelete: none }, ['CREATE', 'UPDATE', 'DELETE']],
    [pod, { validate: none, operations: ['UPDATE'] }, ['UPDATE']],
    [pod, { validate: none, subresource: 'exec' }, ['CONNECT']],
    [pod, { validate: none, subresource: 'exec', operations: ['CREATE'] }, ['CREATE']],
    [widget, { validate: none, subresource: 'status' }, ['UPDATE']],
  ]
  for (const [type, definition, operations] of cases)
    t.strictSame(operationsOf(defineWebhook(type, definition)), operations, `${type.kind} ${JSON.stringify(Object.keys(definition))}`)
})

t.test('match conditions may use all variables of the API server', async (t) => {
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

t.test('a webhook for a type without a schema needs a handler', async (t) => {
  t.throws(() => defineWebhook(pod), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The webhook for Pod has no handlers.',
  })
  t.throws(() => defineWebhook(widget, { subresource: 'scale' }), { message: /no handlers/ })
  t.doesNotThrow(() => defineWebhook(widget))
})

t.test('DELETE without validateDelete, and validateDelete without DELETE, are refused', async (t) => {
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
  t.strictSame(combined!.webhooks.CREATE[0]!.handlers.validate!({}, undefined, {} as never), [])
})
