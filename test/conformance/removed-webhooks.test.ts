/** Tests of `--install` for an operator that has fewer webhooks and conversions than at its last installation. */
import t from 'tap'
import { customResourceDefinition, mutatingWebhookConfiguration, validatingWebhookConfiguration } from '../../src/api/builtin.ts'
import { createClient, type Client } from '../../src/client/client.ts'
import { core, defineConversion, defineKind, defineOperator, defineWebhook, installOnServing, invalid, Type } from '../../src/index.ts'
import type { Operator, RunOptions } from '../../src/index.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { testCertificate } from '../support/certs/server-certificate.ts'
import { find } from '../support/devcluster/client.ts'

const group = 'removed-webhooks.example.com'
// The two versions have the same schema. An operator may therefore define a conversion between them, but does not have to.
const spec = Type.Object({ level: Type.Optional(Type.Integer()) })
const bulb = defineKind({
  group,
  kind: 'Bulb',
  versions: [
    { name: 'v2', storage: true, spec },
    { name: 'v1', spec },
  ],
})
const conversions = [defineConversion(bulb, { converters: { v1: { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) } } })]
const ofBulbs = defineWebhook(bulb, { validate: ({ spec }) => (spec.level === 13 ? [invalid('spec.level', 13, 'is unlucky')] : []) })
const selected = { objectSelector: { matchLabels: { 'removed-webhooks': 'yes' } } }
const ofConfigMaps = defineWebhook(core.configMap, { ...selected, default: (object) => object })

function operatorWith(parts: Partial<Pick<Operator, 'webhooks' | 'conversions'>>): Operator {
  return defineOperator({ name: 'bulbs', kinds: [bulb], ...parts })
}
const complete = operatorWith({ webhooks: [ofBulbs, ofConfigMaps], conversions })

/**
 * A user with the permissions that `docs/guides/installations.md` lists for `--install`. The `resourceNames` are the names of the two
 * webhook configurations of the installation `limited`.
 */
const limited = {
  name: 'limited',
  rules: [
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['create', 'get', 'patch'] },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      verbs: ['create'],
    },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      resourceNames: ['limited-mutating', 'limited-validating'],
      verbs: ['get', 'patch', 'delete'],
    },
  ],
}
/** A user who may install only CRDs. */
const definer = { name: 'definer', rules: limited.rules.slice(0, 1) }
/** A user who may not delete webhook configurations. */
const keeper = { name: 'keeper', rules: limited.rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') })) }

const controlPlane = await conformanceControlPlane(t, { controllers: false, users: [limited, definer, keeper] })
const { client } = controlPlane
t.teardown(() => client.delete(customResourceDefinition, { name: `bulbs.${group}` }))

type Options = Partial<RunOptions> & { readonly forceConflicts?: boolean }

/** Installs the operator like `proreus run --install`, but starts no servers. */
async function install(name: string, operator: Operator, options: Options = {}, by: Client = client): Promise<void> {
  const { forceConflicts = false, ...others } = options
  const running = { connection: controlPlane.connection, name, webhook: { url: 'https://127.0.0.1:9' }, ...others }
  await installOnServing([operator], running, { forceConflicts })({} as never, by)
}

const types = { mutating: mutatingWebhookConfiguration, validating: validatingWebhookConfiguration } as const
const phases = ['mutating', 'validating'] as const

/**
 * Returns the names of the webhooks of an installation. If a webhook configuration contains no webhooks, returns the name of the
 * configuration instead.
 */
async function webhooksOf(name: string): Promise<readonly string[]> {
  const found = await Promise.all(phases.map((phase) => find(client, types[phase], { name: `${name}-${phase}` })))
  return found.flatMap((configuration) => {
    if (configuration === undefined) return []
    const { webhooks = [], metadata } = configuration
    return webhooks.length === 0 ? [metadata.name] : webhooks.map((webhook) => webhook.name)
  })
}

async function strategy(): Promise<string | undefined> {
  return (await client.get(customResourceDefinition, { name: `bulbs.${group}` })).spec.conversion?.strategy
}

async function clear(...names: string[]): Promise<void> {
  for (const phase of phases) {
    for (const name of names)
      if (await find(client, types[phase], { name: `${name}-${phase}` })) await client.delete(types[phase], { name: `${name}-${phase}` })
  }
}

t.test('the configurations of an operator without webhooks are removed, and those of others are kept', async (t) => {
  t.teardown(() => clear('first', 'second', 'third'))
  for (const name of ['first', 'second']) await install(name, complete)
  const [first, second] = [await webhooksOf('first'), await webhooksOf('second')]
  t.match(first, [`mutate-bulb-v2.${group}`, `mutate-bulb-v1.${group}`, 'mutate-configmap-v1.core.first', `validate-bulb-v2.${group}`])

  await install('first', operatorWith({ conversions }))
  t.strictSame(await webhooksOf('first'), [], 'the operator still has conversions')
  t.strictSame(await webhooksOf('second'), second)
  await install('second', operatorWith({}))
  t.strictSame(await webhooksOf('second'), [], 'the operator serves nothing')
  await install('second', operatorWith({}))

  for (const phase of phases) {
    const labels = phase === 'mutating' ? {} : { labels: { 'app.kubernetes.io/name': 'other', 'app.kubernetes.io/part-of': 'third' } }
    await client.create(types[phase] as typeof mutatingWebhookConfiguration, {
      metadata: { name: `third-${phase}`, ...labels },
      webhooks: [],
    })
  }
  await install('third', operatorWith({}))
  t.strictSame(await webhooksOf('third'), ['third-mutating', 'third-validating'], 'an object of the same name without the labels')
})

t.test('a webhook that is removed from the source is removed from a configuration that the process has written to', async (t) => {
  t.teardown(() => clear('first'))
  const caBundle = Buffer.from(testCertificate().ca).toString('base64')
  await install('first', complete)
  for (const phase of phases) {
    const { webhooks = [] } = await client.get(types[phase], { name: `first-${phase}` })
    const patch = webhooks.map((_, index) => ({ op: 'add' as const, path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }))
    await client.patch(types[phase] as typeof mutatingWebhookConfiguration, { name: `first-${phase}` }, patch, {
      type: 'json',
      fieldManager: 'proreus-cabundle',
    })
  }
  await install('first', operatorWith({ webhooks: [ofConfigMaps] }))
  t.strictSame(await webhooksOf('first'), ['mutate-configmap-v1.core.first', 'first-validating'])
})

t.test('a conversion webhook is removed by the installation that has set it, not by another', async (t) => {
  await install('first', operatorWith({ conversions }))
  await install('second', operatorWith({}))
  t.equal(await strategy(), 'Webhook')
  await install('first', operatorWith({}))
  t.equal(await strategy(), 'None')
  await install('second', operatorWith({ conversions }))
  t.equal(await strategy(), 'Webhook', 'the other installation can set its own after that')
  await install('third', operatorWith({}), { forceConflicts: true })
  t.equal(await strategy(), 'None', 'with force')
})

t.test('a process with enableWebhooks: false changes no webhooks', async (t) => {
  t.teardown(() => clear('first'))
  await install('first', complete)
  const before = await webhooksOf('first')
  await install('first', complete, { enableWebhooks: false })
  t.strictSame(await webhooksOf('first'), before)
  t.equal(await strategy(), 'Webhook')
  await install('first', operatorWith({}))
})

t.test('the permissions of the guide suffice, and without webhooks those for CRDs', async (t) => {
  t.teardown(() => clear('limited'))
  const as = (name: string): Client => {
    const own = createClient(controlPlane.connectionFor(name))
    t.teardown(() => own.close())
    return own
  }
  await install('limited', complete, {}, as('limited'))
  t.ok((await webhooksOf('limited')).length > 0)
  await t.rejects(install('limited', operatorWith({}), {}, as('keeper')), {
    code: 'PRO_PERMISSION',
    message:
      /^The MutatingWebhookConfiguration limited-mutating calls webhooks that the operator no longer has, and this user may not delete it: .*forbidden.*: have an administrator delete it\.$/,
  })
  await install('limited', operatorWith({}), {}, as('limited'))
  t.strictSame(await webhooksOf('limited'), [])
  t.equal(await strategy(), 'None')
  await install('definer', operatorWith({}), {}, as('definer'))
})
