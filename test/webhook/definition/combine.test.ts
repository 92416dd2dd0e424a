import t from 'tap'
import { configMap, pod } from '../../../src/api/builtin.ts'
import { defineKind } from '../../../src/api/kind.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { Type } from '../../../src/api/type.ts'
import type { CombinedWebhook } from '../../../src/webhook/definition/combine.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { WebhookSettings } from '../../../src/webhook/definition/definition.ts'
import { anyResource } from '../../../src/webhook/definition/subresource.ts'
import { widget } from '../../support/webhook/fixture.ts'

const validate = (): [] => []

type Settings = WebhookSettings & { readonly subresource?: string }

function combineTwo(one: Settings, other: Settings): CombinedWebhook[] {
  return combineWebhooks([defineWebhook(pod, { validate, ...one }), defineWebhook(pod, { validate, ...other })])
}

t.test('settings of several handlers for a kind are merged', async (t) => {
  const cases: readonly (readonly [WebhookSettings, WebhookSettings, Partial<CombinedWebhook>])[] = [
    [{}, {}, { timeoutSeconds: 10, failurePolicy: 'Fail', sideEffects: 'None', reinvocationPolicy: undefined, refuseInvalidEarly: false }],
    [{ timeoutSeconds: 5 }, { timeoutSeconds: 20 }, { timeoutSeconds: 20 }],
    [{ timeoutSeconds: 5 }, {}, { timeoutSeconds: 10 }],
    [{ timeoutSeconds: 20 }, { timeoutSeconds: 5 }, { timeoutSeconds: 20 }],
    [{ failurePolicy: 'Ignore' }, {}, { failurePolicy: 'Fail' }],
    [{ failurePolicy: 'Ignore' }, { failurePolicy: 'Ignore' }, { failurePolicy: 'Ignore' }],
    [{ sideEffects: 'NoneOnDryRun' }, { sideEffects: 'None' }, { sideEffects: 'NoneOnDryRun' }],
    [{ reinvocationPolicy: 'Never' }, { reinvocationPolicy: 'IfNeeded' }, { reinvocationPolicy: 'IfNeeded' }],
    [{ reinvocationPolicy: 'IfNeeded' }, { reinvocationPolicy: 'Never' }, { reinvocationPolicy: 'IfNeeded' }],
    [{ reinvocationPolicy: 'Never' }, {}, { reinvocationPolicy: 'Never' }],
    [{}, { reinvocationPolicy: 'Never' }, { reinvocationPolicy: 'Never' }],
    [{ refuseInvalidEarly: true }, {}, { refuseInvalidEarly: true }],
    [{ refuseInvalidEarly: false }, {}, { refuseInvalidEarly: false }],
    [{ sideEffects: 'None' }, { sideEffects: 'NoneOnDryRun' }, { sideEffects: 'NoneOnDryRun' }],
    [{ failurePolicy: 'Ignore' }, { failurePolicy: 'Fail' }, { failurePolicy: 'Fail' }],
    [{ refuseInvalidEarly: true }, { refuseInvalidEarly: false }, { refuseInvalidEarly: false }],
    [{ reads: [configMap] }, { reads: [pod] }, { reads: [configMap, pod] }],
    [
      { operations: ['UPDATE'] },
      { operations: ['CREATE'] },
      { validating: { path: '/validate--v1-pod', operations: ['CREATE', 'UPDATE'] } },
    ],
  ]
  for (const [one, other, expected] of cases) {
    const combined = combineTwo(one, other)
    t.equal(combined.length, 1)
    for (const [field, value] of Object.entries(expected)) t.strictSame(combined[0]![field as keyof CombinedWebhook], value, field)
  }
})

t.test('handlers are listed in declared order, by operation', async (t) => {
  const [first, second, third] = [
    defineWebhook(pod, { validate }),
    defineWebhook(pod, { operations: ['DELETE'], validateDelete: validate }),
    defineWebhook(pod, { validate }),
  ]
  const [combined] = combineWebhooks([first, second, third])
  t.strictSame(combined!.webhooks.CREATE, [first, third])
  t.strictSame(combined!.webhooks.UPDATE, [first, third])
  t.strictSame(combined!.webhooks.DELETE, [second])
  t.strictSame(combined!.webhooks.CONNECT, [])
})

t.test('handlers with differing filters need a name, and get a webhook entry of their own', async (t) => {
  const inject = { objectSelector: { matchLabels: { inject: 'yes' } } }
  for (const other of [
    inject,
    { namespaceSelector: {} },
    { matchPolicy: 'Exact' },
    { scope: '*' },
    { matchConditions: [{ name: 'a', expression: 'true' }] },
  ] as const) {
    const field = Object.keys(other)[0]
    t.throws(() => combineTwo({}, other), {
      code: 'PRO_CONFIG_INVALID',
      message: `The webhooks for Pod differ in ${field}: use the same value in all of them, or set a \`name\` on those that differ, which gives them an entry of their own.`,
    })
    const separate = combineTwo({}, { ...other, name: 'inject' })
    t.strictSame(
      separate.map(({ validating }) => validating.path),
      ['/validate--v1-pod', '/validate--v1-pod.inject'],
    )
    t.strictSame(
      separate.map(({ name, filters }) => ({ name, filters })),
      [
        { name: '', filters: {} },
        { name: 'inject', filters: other },
      ],
    )
  }
  t.throws(() => combineTwo({ subresource: 'exec' }, { subresource: 'exec', scope: '*' }), {
    message: /^The webhooks for Pod\/exec differ in scope: /,
  })
  t.equal(combineTwo({ ...inject, name: 'inject' }, { ...inject, name: 'inject' }).length, 1)
})

t.test('only operations with a handler are registered', async (t) => {
  const operationsOf = (...definitions: Parameters<typeof defineWebhook<typeof pod>>[1][]): object =>
    combineWebhooks(definitions.map((definition) => defineWebhook(pod, definition))).map(({ mutating, validating }) => [
      mutating.operations,
      validating.operations,
    ])[0]!
  t.strictSame(operationsOf({ default: (object) => object }), [['CREATE', 'UPDATE'], []])
  t.strictSame(operationsOf({ validate }), [[], ['CREATE', 'UPDATE']])
  // The rules contain only the operations that a handler processes. If they contained other operations, requests with these operations
  // would fail while the webhook is unavailable.
  t.strictSame(operationsOf({ validateDelete: () => [] }), [[], ['DELETE']])
  t.strictSame(operationsOf({ default: (object) => object, validateDelete: () => [] }), [['CREATE', 'UPDATE'], ['DELETE']])
  t.strictSame(operationsOf({ validate, validateDelete: () => [] }), [[], ['CREATE', 'UPDATE', 'DELETE']])
  t.strictSame(operationsOf({ validateInCluster: validate }), [[], ['CREATE', 'UPDATE']])
  t.strictSame(operationsOf({ default: (object) => object, operations: ['UPDATE'] }, { validate, operations: ['CREATE'] }), [
    ['UPDATE'],
    ['CREATE'],
  ])
  t.strictSame(operationsOf({ validate, operations: ['CONNECT', 'UPDATE'] }), [[], ['UPDATE', 'CONNECT']], 'in a fixed order')
  t.strictSame(operationsOf({ validate, validateDelete: () => [], refuseInvalidEarly: true })[0 as never], ['CREATE', 'UPDATE'])
  t.strictSame(operationsOf({ operations: ['CREATE', 'UPDATE'], validate }, { operations: ['UPDATE'], default: (object) => object }), [
    ['UPDATE'],
    ['CREATE', 'UPDATE'],
  ])
  t.strictSame(operationsOf({ validate, refuseInvalidEarly: true }), [
    ['CREATE', 'UPDATE'],
    ['CREATE', 'UPDATE'],
  ])
  t.strictSame(
    combineWebhooks([
      defineWebhook(pod, { subresource: 'exec', default: (object) => object }),
      defineWebhook(pod, { subresource: 'attach', validate }),
    ]).map(({ mutating, validating }) => [mutating, validating]),
    [
      [
        { path: '/mutate--v1-pod/exec', operations: ['CONNECT'] },
        { path: '/validate--v1-pod/exec', operations: [] },
      ],
      [
        { path: '/mutate--v1-pod/attach', operations: [] },
        { path: '/validate--v1-pod/attach', operations: ['CONNECT'] },
      ],
    ],
  )
  const [ours] = combineWebhooks([defineWebhook(widget, { validateDelete: () => [] })])
  t.strictSame(
    [ours!.mutating.operations, ours!.validating.operations],
    [
      ['CREATE', 'UPDATE'],
      ['CREATE', 'UPDATE', 'DELETE'],
    ],
  )
})

t.test('a subresource has its default operation and a path of its own', async (t) => {
  const cases = [
    [defineWebhook(pod, { subresource: 'exec', validate }), ['CONNECT'], '/validate--v1-pod/exec'],
    [defineWebhook(pod, { subresource: 'eviction', validate }), ['CREATE'], '/validate--v1-pod/eviction'],
    [defineWebhook(pod, { subresource: 'resize', validate }), ['UPDATE'], '/validate--v1-pod/resize'],
    [defineWebhook(pod, { subresource: 'exec', name: 'audit', validate }), ['CONNECT'], '/validate--v1-pod/exec.audit'],
    [defineWebhook(widget, { subresource: 'scale', validate }), ['UPDATE'], '/validate-apps-example-com-v1-widget/scale'],
    [defineWebhook(anyResource, { subresource: 'scale', validate }), ['UPDATE'], '/validate-any/scale'],
  ] as const
  const combined = combineWebhooks(cases.map(([definition]) => definition))
  t.strictSame(
    combined.map(({ validating }) => validating),
    cases.map(([, operations, path]) => ({ path, operations })),
  )
  t.ok(
    combined.every(({ schemaKind }) => schemaKind === undefined),
    'the objects of a subresource are not validated by the schema of the kind',
  )
})

t.test('a kind that is defined twice, and a path that is used twice, are refused', async (t) => {
  const again = defineKind({ group: 'apps.example.com', kind: 'Widget', versions: [{ name: 'v1', spec: Type.Object({}) }] })
  t.throws(() => combineWebhooks([defineWebhook(widget), defineWebhook(again)]), {
    code: 'PRO_CONFIG_INVALID',
    message: /There are two definitions of Widget\.apps\.example\.com/,
  })
  const known = resourceType({ group: 'apps.example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  const [first] = combineWebhooks([defineWebhook(known, { validate }), defineWebhook(widget)])
  t.equal(first!.schemaKind, widget, 'handlers for the type and for the kind share an entry')
  t.equal(first!.type, widget)
  t.equal(first!.webhooks.CREATE.length, 2)
  const types = ['a.b', 'a-b'].map((group) => resourceType({ group, version: 'v1', kind: 'Lamp', plural: 'lamps' }))
  t.throws(() => combineWebhooks(types.map((type) => defineWebhook(type, { validate }))), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The webhooks for Lamp.a.b and Lamp.a-b would both be served at /validate-a-b-v1-lamp: rename one.',
  })
})

t.test('another group, version, plural, subresource or name makes an entry of its own', async (t) => {
  const lamp = { group: 'a.example', version: 'v1', kind: 'Lamp', plural: 'lamps' }
  const types = [lamp, { ...lamp, group: 'b.example' }, { ...lamp, version: 'v2' }, { ...lamp, kind: 'Bulb', plural: 'bulbs' }].map(
    (type) => resourceType(type),
  )
  const combined = combineWebhooks([
    ...types.map((type) => defineWebhook(type, { validate })),
    defineWebhook(types[0]!, { validate, subresource: 'status' }),
    defineWebhook(types[0]!, { validate, name: 'again' }),
    ...types.map((type) => defineWebhook(type, { validate })),
  ])
  t.strictSame(
    combined.map(({ validating, version, subresource, name, webhooks }) => [
      validating.path,
      version,
      subresource,
      name,
      webhooks.CREATE.length,
    ]),
    [
      ['/validate-a-example-v1-lamp', 'v1', '', '', 2],
      ['/validate-b-example-v1-lamp', 'v1', '', '', 2],
      ['/validate-a-example-v2-lamp', 'v2', '', '', 2],
      ['/validate-a-example-v1-bulb', 'v1', '', '', 2],
      ['/validate-a-example-v1-lamp/status', 'v1', 'status', '', 0],
      ['/validate-a-example-v1-lamp.again', 'v1', '', 'again', 1],
    ],
  )
})

t.test('a kind has an entry for each served version, and its handlers are in the entry of their version', async (t) => {
  const combined = combineWebhooks([defineWebhook(widget, { validate })])
  t.strictSame(
    combined.map(({ type, schemaKind, version, mutating, validating, webhooks, refuseInvalidEarly }) => ({
      isKind: type === widget && schemaKind === widget,
      version,
      mutating,
      validating,
      updateHandlers: webhooks.UPDATE.length,
      refuseInvalidEarly,
    })),
    ['v1', 'v1beta1'].map((version) => ({
      isKind: true,
      version,
      mutating: { path: `/mutate-apps-example-com-${version}-widget`, operations: ['CREATE', 'UPDATE'] },
      validating: { path: `/validate-apps-example-com-${version}-widget`, operations: ['CREATE', 'UPDATE'] },
      updateHandlers: version === 'v1' ? 1 : 0,
      refuseInvalidEarly: true,
    })),
  )
  const [lenient] = combineWebhooks([defineWebhook(widget, { refuseInvalidEarly: false }), defineWebhook(widget, {})])
  t.equal(lenient!.refuseInvalidEarly, false)
})
