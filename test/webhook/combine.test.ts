import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { Type } from '../../src/api/type.ts'
import type { CombinedWebhook } from '../../src/webhook/combine.ts'
import { combineWebhooks } from '../../src/webhook/combine.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import type { WebhookSettings } from '../../src/webhook/definition.ts'
import { anyResource } from '../../src/webhook/subresource.ts'
import { widget } from '../support/webhook-fixture.ts'

const validate = (): [] => []

function combineTwo(one: WebhookSettings, other: WebhookSettings): CombinedWebhook[] {
  return combineWebhooks([defineWebhook(pod, { validate, ...one }), defineWebhook(pod, { validate, ...other })])
}

t.test('settings of several handlers', async (t) => {
  const cases: readonly (readonly [WebhookSettings, WebhookSettings, Partial<CombinedWebhook>])[] = [
    [{}, {}, { timeoutSeconds: 10, failurePolicy: 'Fail', sideEffects: 'None', reinvocationPolicy: undefined, refuseInvalidEarly: false }],
    [{ timeoutSeconds: 5 }, { timeoutSeconds: 20 }, { timeoutSeconds: 20 }],
    [{ timeoutSeconds: 5 }, {}, { timeoutSeconds: 10 }],
    [{ failurePolicy: 'Ignore' }, {}, { failurePolicy: 'Fail' }],
    [{ failurePolicy: 'Ignore' }, { failurePolicy: 'Ignore' }, { failurePolicy: 'Ignore' }],
    [{ sideEffects: 'NoneOnDryRun' }, { sideEffects: 'None' }, { sideEffects: 'NoneOnDryRun' }],
    [{ reinvocationPolicy: 'Never' }, { reinvocationPolicy: 'IfNeeded' }, { reinvocationPolicy: 'IfNeeded' }],
    [{ reinvocationPolicy: 'Never' }, {}, { reinvocationPolicy: 'Never' }],
    [{ refuseInvalidEarly: true }, {}, { refuseInvalidEarly: true }],
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
    t.match(combined[0], expected)
  }
})

t.test('handlers are asked in declared order, each about its operations', async (t) => {
  const [first, second, third] = [
    defineWebhook(pod, { validate }),
    defineWebhook(pod, { operations: ['DELETE'], validateDelete: validate }),
    defineWebhook(pod, { validate }),
  ]
  const [combined] = combineWebhooks([first, second, third])
  t.strictSame(combined!.handlers.CREATE, [first, third])
  t.strictSame(combined!.handlers.DELETE, [second])
  t.strictSame(combined!.handlers.CONNECT, [])
})

t.test('handlers that are to be asked about other requests need a name, and get an entry', async (t) => {
  const inject = { objectSelector: { matchLabels: { inject: 'yes' } } }
  for (const other of [
    inject,
    { matchPolicy: 'Exact' },
    { scope: '*' },
    { matchConditions: [{ name: 'a', expression: 'true' }] },
  ] as const) {
    const field = Object.keys(other)[0]
    t.throws(() => combineTwo({}, other), {
      code: 'PRO_CONFIG_INVALID',
      message: `The webhooks for Pod differ in ${field}: say the same in all of them, or give those that differ a \`name\`, and with it an entry of their own.`,
    })
    const apart = combineTwo({}, { ...other, name: 'inject' })
    t.strictSame(
      apart.map(({ validating }) => validating.path),
      ['/validate--v1-pod', '/validate--v1-pod.inject'],
    )
    t.strictSame(apart[1]!.filters, other)
  }
  t.equal(combineTwo({ ...inject, name: 'inject' }, { ...inject, name: 'inject' }).length, 1)
})

t.test('only what there is a handler for is asked', async (t) => {
  const operationsOf = (...definitions: Parameters<typeof defineWebhook<typeof pod>>[1][]): object =>
    combineWebhooks(definitions.map((definition) => defineWebhook(pod, definition))).map(({ mutating, validating }) => [
      mutating.operations,
      validating.operations,
    ])[0]!
  t.strictSame(operationsOf({ default: (given) => given }), [['CREATE', 'UPDATE'], []])
  t.strictSame(operationsOf({ validate }), [[], ['CREATE', 'UPDATE']])
  // Who has nothing to say about a create must not be able to stop it by being away.
  t.strictSame(operationsOf({ validateDelete: () => [] }), [[], ['DELETE']])
  t.strictSame(operationsOf({ default: (given) => given, validateDelete: () => [] }), [['CREATE', 'UPDATE'], ['DELETE']])
  t.strictSame(operationsOf({ validate, validateDelete: () => [] }), [[], ['CREATE', 'UPDATE', 'DELETE']])
  t.strictSame(operationsOf({ operations: ['CREATE', 'UPDATE'], validate }, { operations: ['UPDATE'], default: (given) => given }), [
    ['UPDATE'],
    ['CREATE', 'UPDATE'],
  ])
  t.strictSame(operationsOf({ validate, refuseInvalidEarly: true }), [
    ['CREATE', 'UPDATE'],
    ['CREATE', 'UPDATE'],
  ])
  const [ours] = combineWebhooks([defineWebhook(widget, { validateDelete: () => [] })])
  t.strictSame(
    [ours!.mutating.operations, ours!.validating.operations],
    [
      ['CREATE', 'UPDATE'],
      ['CREATE', 'UPDATE', 'DELETE'],
    ],
  )
})

t.test('subresources', async (t) => {
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
    'what the API server is sent for them is not the object of the schema',
  )
})

t.test('a kind is one, and a path too', async (t) => {
  const again = defineKind({ group: 'apps.example.com', kind: 'Widget', versions: [{ name: 'v1', spec: Type.Object({}) }] })
  t.throws(() => combineWebhooks([defineWebhook(widget), defineWebhook(again)]), {
    code: 'PRO_CONFIG_INVALID',
    message: /There are two definitions of Widget\.apps\.example\.com/,
  })
  const known = resourceType({ group: 'apps.example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  const [first] = combineWebhooks([defineWebhook(known, { validate }), defineWebhook(widget)])
  t.equal(first!.schemaKind, widget, 'who does not know the schema has its handler asked with it')
})
