import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { checkOperators, convertedDefinitions, defineOperator, isOperator } from '../../src/manager/operator.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const reconcile = async (): Promise<void> => undefined

t.test('an operator is complete and frozen', async (t) => {
  const operator = defineOperator({ name: 'thing', kinds: [kind] })
  t.strictSame(operator, { name: 'thing', kinds: [kind], webhooks: [], conversions: [], controllers: [], rbac: [] })
  for (const part of [operator, operator.kinds, operator.webhooks, operator.conversions, operator.controllers, operator.rbac])
    t.ok(Object.isFrozen(part))
  t.ok(isOperator(operator))
})

t.test('what was not made with defineOperator is none', async (t) => {
  for (const value of [undefined, null, 'x', {}, { ...defineOperator({ name: 'a', kinds: [] }) }, Object.freeze({ name: 'a', kinds: [] })])
    t.notOk(isOperator(value))
})

t.test('an operator that is not well defined is refused with all that is wrong', async (t) => {
  t.throws(
    () =>
      defineOperator({
        name: 'Not A Name',
        kinds: [kind, kind],
        controllers: [defineController(kind, { reconcile }), defineController(kind, { reconcile })],
      }),
    {
      code: 'PRO_CONFIG_INVALID',
      message: /name: .*; kinds: Thing\.example\.com is there twice; controllers: two are called "thing"/,
    },
  )
})

t.test('webhooks that contradict each other are refused, in one operator and in several', async (t) => {
  const exact = defineWebhook(kind, { matchPolicy: 'Exact' })
  const expected = { code: 'PRO_CONFIG_INVALID', message: /The webhooks for Thing\.example\.com differ in matchPolicy: .*`name`/ }
  t.throws(() => defineOperator({ name: 'a', kinds: [kind], webhooks: [defineWebhook(kind), exact] }), expected)
  const [a, b] = [
    defineOperator({ name: 'a', kinds: [kind], webhooks: [exact] }),
    defineOperator({ name: 'b', kinds: [], webhooks: [defineWebhook(kind)] }),
  ]
  t.throws(() => checkOperators([a, b]), expected)
})

t.test('operators of one name, or with controllers of one name, do not run together', async (t) => {
  const a = defineOperator({ name: 'a', kinds: [kind], controllers: [defineController(kind, { reconcile })] })
  const b = defineOperator({ name: 'b', kinds: [kind], controllers: [defineController(kind, { reconcile })] })
  t.doesNotThrow(() => checkOperators([a]))
  t.throws(() => checkOperators([a, b]), { code: 'PRO_CONFIG_INVALID', message: /two controllers are called "thing"/ })
  t.throws(() => checkOperators([a, a]), { message: /two operators are called "a"/ })
})

t.test('a kind whose versions have the same fields is converted without a webhook, also with a conversion', async (t) => {
  const versions = [
    { name: 'v1', storage: true, spec: Type.Object({}) },
    { name: 'v2', spec: Type.Object({}) },
  ] as const
  const [plain, converted] = ['Plain', 'Converted'].map((kind) => defineKind({ group: 'example.com', kind, versions }))
  const keep = { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) }
  const conversions = [defineConversion(plain!, { converters: {} }), defineConversion(converted!, { converters: { v2: keep } })]
  t.strictSame(convertedDefinitions([defineOperator({ name: 'a', kinds: [plain!, converted!], conversions })]), ['converteds.example.com'])
})
