/** Tests of several installations in one cluster: independent operators, and one operator that is installed under two names. */
import t from 'tap'
import {
  configMap,
  customResourceDefinition,
  event,
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from '../../src/api/builtin.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { invalid } from '../../src/api/field-error.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { find } from '../support/devcluster/client.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'

const namespace = 'conformance-installations'
const group = 'installations.example.com'
const shared = { namespace, name: 'shared' }

function kindOf(name: string, maxLength = 20) {
  return defineKind({ group, kind: name, versions: [{ name: 'v1', spec: Type.Object({ text: Type.String({ maxLength }) }) }] })
}

/**
 * Returns an operator with a controller and a webhook for the kind:
 *
 * - The controller copies the text of the object `one` to the ConfigMap `shared`, which the operators `left` and `right` share. The key is
 *   the operator's name. A change of the ConfigMap also triggers a reconcile.
 * - The webhook denies objects whose text is `bad`. If the name of an object begins with `noted`, the webhook also writes to the ConfigMap
 *   that has the same name as the object. The key is the operator's name. In a dry run, the webhook writes nothing.
 */
function operatorOf(name: string, kind: ReturnType<typeof kindOf>): Operator {
  return defineOperator({
    name,
    kinds: [kind],
    webhooks: [
      defineWebhook(kind, {
        validate: ({ spec }) => (spec.text === 'bad' ? [invalid('spec.text', 'bad', `is refused by ${name}`)] : []),
        sideEffects: 'NoneOnDryRun',
        async validateInCluster({ metadata }, _old, { client, dryRun }) {
          if (!dryRun && metadata.name.startsWith('noted'))
            await client.apply(configMap, { metadata: { namespace, name: metadata.name }, data: { [name]: 'asked' } })
          return []
        },
      }),
    ],
    controllers: [
      defineController(kind, {
        watches: [{ type: configMap, map: ({ metadata }) => (metadata.name === shared.name ? [{ namespace, name: 'one' }] : []) }],
        async reconcile(object, { client, events }) {
          if (object.metadata.name !== 'one') return
          await client.apply(configMap, { metadata: shared, data: { [name]: object.spec.text } })
          events.event(object, 'Normal', 'Applied', `applied ${object.spec.text}`)
        },
      }),
    ],
  })
}

const [left, right] = [kindOf('Left'), kindOf('Right')]
const operators = [operatorOf('left', left), operatorOf('right', right)] as const
const object = (name: string, text: string) => ({ metadata: { namespace, name }, spec: { text } })

const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
const { client } = controlPlane

/** Waits until a webhook whose name matches `webhook` denies an object. */
async function untilRefusedBy(webhook: RegExp, kind = left): Promise<void> {
  await until(`${webhook} refuses`, () =>
    client.create(kind, object('refused', 'bad'), { dryRun: true }).then(
      () => false,
      (error: Error) => webhook.test(error.message),
    ),
  )
}

t.test('two operators', async (t) => {
  for (const operator of operators) await controlPlane.startOperator([operator])
  await untilRefusedBy(/is refused by left/, left)
  await untilRefusedBy(/is refused by right/, right)

  t.test('have webhook configurations of their own', async (t) => {
    for (const type of [mutatingWebhookConfiguration, validatingWebhookConfiguration]) {
      const { items } = await client.list(type)
      const names = items.map(({ metadata }) => metadata.name)
      for (const name of ['left', 'right']) t.ok(names.some((found) => found.startsWith(`${name}-`)))
    }
  })

  t.test('own the fields that they apply to one object, without conflicts', needsRequests, async (t) => {
    const start = Date.now()
    for (const kind of [left, right]) await client.create(kind, object('one', 'hello'))
    const both = await until('both have applied', async () => {
      const found = await find(client, configMap, shared)
      return found?.data?.['left'] === 'hello' && found.data['right'] === 'hello' && found
    })
    const managers = (both.metadata.managedFields as { manager: string; operation: string }[]).map(
      ({ manager, operation }) => `${manager} ${operation}`,
    )
    t.strictSame(managers.sort(), ['left Apply', 'right Apply'])
    // If the two operators overwrote each other's fields, each of them would write again after every write of the other operator.
    await client.patch(left, { namespace, name: 'one' }, { spec: { text: 'later' } })
    await until('the change has arrived', async () => (await client.get(configMap, shared)).data?.['left'] === 'later')
    const applies = (await controlPlane.requests()).filter(
      ({ at, verb, path }) => at >= start && verb === 'patch' && path.endsWith('/configmaps/shared'),
    )
    t.ok(applies.length <= 12, `${applies.length} applies`)
  })

  t.test('are the sources of their events', async (t) => {
    const events = await until('both have told', async () => {
      const { items } = await client.list(event, { namespace })
      const applied = items.filter(({ reason }) => reason === 'Applied')
      return new Set(applied.map(({ involvedObject }) => involvedObject.kind)).size === 2 && applied
    })
    const sources = new Set(events.map(({ involvedObject, source }) => `${involvedObject.kind} ${source?.component}`))
    t.strictSame([...sources].sort(), ['Left left', 'Right right'])
  })

  t.test('write from webhooks with their own field managers', async (t) => {
    for (const kind of [left, right]) await client.create(kind, object('noted', 'hello'))
    const { data, metadata } = await client.get(configMap, { namespace, name: 'noted' })
    t.strictSame(data, { left: 'asked', right: 'asked' })
    const managers = (metadata.managedFields as { manager: string }[]).map(({ manager }) => manager)
    t.strictSame(managers.sort(), ['left', 'right'])
  })
})

t.test('two installations of one operator', async (t) => {
  const names = ['team-a', 'team-b']
  const started = await Promise.all(names.map((name) => controlPlane.startOperator([operators[0]], { name })))
  const calls = async (name: string): Promise<boolean> => {
    const { webhooks = [] } = await client.get(validatingWebhookConfiguration, { name: `${name}-validating` })
    return webhooks.length === 1 && (webhooks[0]!.clientConfig.caBundle ?? '') !== ''
  }
  t.strictSame(await Promise.all(names.map(calls)), [true, true])
  await untilRefusedBy(/is refused by left/)
  t.ok(await client.create(left, object('allowed', 'good'), { dryRun: true }))

  t.test('each denies independently of the other', async (t) => {
    await started[1]!.stop()
    for (const [type, phase] of [
      [mutatingWebhookConfiguration, 'mutating'],
      [validatingWebhookConfiguration, 'validating'],
    ] as const)
      await client.delete(type, { name: `team-b-${phase}` })
    await untilRefusedBy(/is refused by left/)
    await until('nobody calls what has stopped', () =>
      client.create(left, object('allowed', 'good'), { dryRun: true }).catch(() => undefined),
    )
    t.equal(await calls('team-a'), true)
  })
})

t.test('an installation does not replace the definition of another', async (t) => {
  const shorter = operatorOf('left', kindOf('Left', 5))
  const definition = { name: `lefts.${group}` }
  await t.rejects(installKinds(client, [shorter], systemClock, { name: 'team-c' }), {
    code: 'PRO_CONFIG_INVALID',
    message:
      /^The CRD lefts\.installations\.example\.com is installed with another definition by "left", "team-a", "team-b" \(they differ in \.spec\.versions\): .*--force-conflicts\.$/,
  })
  const before = await client.get(customResourceDefinition, definition)
  t.match(JSON.stringify(before.spec.versions), '"maxLength":20')
  await installKinds(client, [operators[0]], systemClock, { name: 'team-c' })
  await installKinds(client, [shorter], systemClock, { name: 'team-c', forceConflicts: true })
  const after = await client.get(customResourceDefinition, definition)
  t.match(JSON.stringify(after.spec.versions), '"maxLength":5')
})
