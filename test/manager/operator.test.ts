import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { cacheView } from '../../src/cache/view.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import type { OperatorDefinition } from '../../src/manager/operator.ts'
import { checkOperators, convertedDefinitions, defineOperator, isOperator } from '../../src/manager/operator.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const reconcile = async (): Promise<void> => undefined

t.test('an operator is complete and frozen', async (t) => {
  const operator = defineOperator({ name: 'thing', kinds: [kind] })
  t.strictSame(operator, {
    name: 'thing',
    kinds: [kind],
    webhooks: [],
    conversions: [],
    controllers: [],
    rbac: [],
    runnables: [],
    checks: { healthz: [], readyz: [] },
  })
  for (const part of [operator, operator.kinds, operator.webhooks, operator.conversions, operator.controllers, operator.rbac])
    t.ok(Object.isFrozen(part))
  t.ok(isOperator(operator))
})

t.test('a value that was not made by defineOperator is not an operator', async (t) => {
  const operator = defineOperator({ name: 'a', kinds: [] })
  for (const value of [undefined, null, 'x', {}, { ...operator }, Object.freeze({ name: 'a', kinds: [] })])
    t.equal(isOperator(value), false)
  for (const part of Object.keys(operator)) t.equal(isOperator(Object.freeze({ ...operator, [part]: 1 })), false, part)
  t.equal(isOperator(Object.freeze({ ...operator, ofALaterVersion: 1 })), true)
})

t.test('an invalid operator is refused with all mistakes', async (t) => {
  t.throws(
    () =>
      defineOperator({
        name: 'Not A Name',
        kinds: [kind, kind],
        version: '1 beta',
        controllers: [defineController(kind, { reconcile }), defineController(kind, { reconcile })],
      }),
    {
      code: 'PRO_CONFIG_INVALID',
      message:
        /^The operator "Not A Name" is invalid: name: [^;]*; version: "1 beta" has characters that a user agent cannot carry; kinds: Thing\.example\.com is listed twice; controllers: two are named "thing": rename one\.$/,
    },
  )
  t.equal(defineOperator({ name: 'a', version: '1.2.3-rc_1+b', kinds: [] }).version, '1.2.3-rc_1+b')
  const cases: [object, string][] = [
    [{ kinds: undefined }, 'kinds: is missing'],
    [{ name: undefined }, 'name: is missing'],
    [{ name: 1 }, 'name: must be a string, found 1'],
    [{ version: 1 }, 'version: must be a string, found 1'],
    [{ webhook: [] }, 'webhook: unknown field; did you mean webhooks?'],
    [{ webhooks: [{ type: 1, handlers: 1 }] }, 'webhooks[0]: must be what defineWebhook returns, found an object'],
    [{ conversions: [null] }, 'conversions[0]: must be what defineConversion returns, found null'],
    [{ runnables: [{ name: 'a', run: 1 }] }, 'runnables[0].run: must be a function, found 1'],
    [
      { runnables: [{ name: 'a', runs: () => undefined }] },
      'runnables[0].run: is missing; runnables[0].runs: unknown field; did you mean run?',
    ],
    [{ checks: { healtz: [] } }, 'checks.healtz: unknown field; did you mean healthz?'],
    [
      { checks: { readyz: [{ name: 'webhook', problem: () => undefined }] } },
      'checks: "webhook" is a check of the process itself: rename it',
    ],
    [{ controllers: [{ type: 1, types: 1 }] }, 'controllers[0]: must be what defineController returns, found an object'],
  ]
  for (const [part, problem] of cases)
    t.throws(() => defineOperator({ name: 'a', kinds: [], ...part } as never), {
      code: 'PRO_CONFIG_INVALID',
      message: `The operator "${'name' in part ? String(part.name) : 'a'}" is invalid: ${problem}.`,
    })
  for (const part of [{ kinds: [{}] }, { rbac: [{}] }])
    t.throws(() => defineOperator({ name: 'a', kinds: [], ...part } as never), { code: 'PRO_CONFIG_INVALID' })
})

t.test('runnables and health checks have names of their own in the process', async (t) => {
  const run = (): void => undefined
  const problem = (): undefined => undefined
  t.throws(() => defineOperator({ name: 'a', kinds: [], runnables: [{ name: 'No Label', run }] }), {
    message: /runnables: "No Label": a lowercase/,
  })
  t.throws(() => defineOperator({ name: 'a', kinds: [], runnables: [{ name: 'x', run }, { name: 'x', run }] }), { message: /two runnables are called "x"/ }) // prettier-ignore
  const checks = { healthz: [{ name: 'x', problem }], readyz: [{ name: 'x', problem }] }
  const one = defineOperator({ name: 'a', kinds: [], runnables: [{ name: 'x', run }], checks })
  const other = defineOperator({ name: 'b', kinds: [], runnables: [{ name: 'x', run }], checks })
  t.throws(() => checkOperators([one, other]), {
    message: /two runnables are called "x"; two checks of healthz are called "x"; two checks of readyz are called "x"/,
  })
})

t.test('a kind has at most one conversion in its operator, and requires one if its versions differ', (t) => {
  const versions = [
    { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
    { name: 'v2', spec: Type.Object({ replicas: Type.Integer() }) },
  ] as const
  const changed = defineKind({ group: 'example.com', kind: 'Changed', versions })
  const converters = {
    v2: {
      toHub: ({ spec }: { spec: { replicas: number } }) => ({ spec: { size: spec.replicas } }),
      fromHub: ({ spec }: { spec: { size: number } }) => ({ spec: { replicas: spec.size } }),
    },
  }
  const conversion = defineConversion(changed, { converters })
  const name = 'a'
  const refused = (definition: Pick<OperatorDefinition, 'kinds' | 'conversions'>, problem: string): void =>
    void t.throws(() => defineOperator({ name, ...definition }), {
      code: 'PRO_CONFIG_INVALID',
      message: `The operator "a" is invalid: conversions: ${problem}`,
    })
  t.strictSame(defineOperator({ name, kinds: [changed], conversions: [conversion] }).conversions, [conversion])
  refused({ kinds: [changed], conversions: [conversion, conversion] }, 'there are two for Changed.example.com: define one.')
  refused({ kinds: [kind], conversions: [conversion] }, "Changed.example.com is not one of the operator's kinds.")
  refused({ kinds: [kind, changed] }, 'missing for Changed.example.com: v2 differs from v1 (')
  t.end()
})

t.test('contradicting webhooks are refused, in one operator and in several', async (t) => {
  const exact = defineWebhook(kind, { matchPolicy: 'Exact' })
  const expected = { code: 'PRO_CONFIG_INVALID', message: /The webhooks for Thing\.example\.com differ in matchPolicy: .*`name`/ }
  t.throws(() => defineOperator({ name: 'a', kinds: [kind], webhooks: [defineWebhook(kind), exact] }), expected)
  const [a, b] = [
    defineOperator({ name: 'a', kinds: [kind], webhooks: [exact] }),
    defineOperator({ name: 'b', kinds: [], webhooks: [defineWebhook(kind)] }),
  ]
  t.throws(() => checkOperators([a, b]), expected)
})

t.test('operators with the same name, or with controllers of the same name, are refused together', async (t) => {
  const a = defineOperator({ name: 'a', kinds: [kind], controllers: [defineController(kind, { reconcile })] })
  const b = defineOperator({ name: 'b', kinds: [kind], controllers: [defineController(kind, { reconcile })] })
  t.doesNotThrow(() => checkOperators([a]))
  t.throws(() => checkOperators([a, b]), {
    code: 'PRO_CONFIG_INVALID',
    message: 'These operators cannot run together: two controllers are called "thing".',
  })
  t.throws(() => checkOperators([a, b, a, a]), {
    message: 'These operators cannot run together: two operators are called "a"; two controllers are called "thing".',
  })
})

t.test('controllers of one type with the same finalizer are refused, in one operator and in several', async (t) => {
  const another = defineKind({ group: 'example.com', kind: 'Another', versions: [{ name: 'v1', spec: Type.Object({}) }] })
  const finalizing = (name: string, type: ResourceType = kind, finalizer = 'example.com/x') =>
    defineController(type, { name, reconcile, finalizer: { name: finalizer, finalize: reconcile } })
  const view = cacheView(kind as ResourceType, { metadataOnly: true })
  const fine = [finalizing('a'), finalizing('b', kind, 'example.com/y'), finalizing('c', another), defineController(kind, { reconcile })]
  const message =
    'the controllers "a" and "d" have the same finalizer example.com/x for things.example.com, so only one of them would finalize an object: rename one.'
  t.throws(() => defineOperator({ name: 'o', kinds: [kind], controllers: [...fine, finalizing('d', view)] }), {
    code: 'PRO_CONFIG_INVALID',
    message: `The operator "o" is invalid: ${message}`,
  })
  const first = defineOperator({ name: 'o', kinds: [kind], controllers: fine })
  t.doesNotThrow(() => checkOperators([first]))
  t.throws(() => checkOperators([first, defineOperator({ name: 'p', kinds: [], controllers: [finalizing('d')] })]), {
    code: 'PRO_CONFIG_INVALID',
    message: `These operators cannot run together: ${message}`,
  })
})

t.test('a kind whose versions have the same fields needs no conversion webhook, even with a conversion', async (t) => {
  const versions = [
    { name: 'v1', storage: true, spec: Type.Object({}) },
    { name: 'v2', spec: Type.Object({}) },
  ] as const
  const [plain, converted] = ['Plain', 'Converted'].map((kind) => defineKind({ group: 'example.com', kind, versions }))
  const keep = { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) }
  const conversions = [defineConversion(plain!, { converters: {} }), defineConversion(converted!, { converters: { v2: keep } })]
  t.strictSame(convertedDefinitions([defineOperator({ name: 'a', kinds: [plain!, converted!], conversions })]), ['converteds.example.com'])
})
