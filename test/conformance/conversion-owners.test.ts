/**
 * Tests of several installations that define the same kind. The CustomResourceDefinition contains the conversion webhook of only one of
 * them.
 */
import t from 'tap'
import { customResourceDefinition } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { defineConversion, defineKind, defineOperator, Type } from '../../src/index.ts'
import { installKinds, installWebhooks } from '../../src/manifests/install.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'

const bulb = defineKind({
  group: 'owners.example.com',
  kind: 'Bulb',
  versions: [
    { name: 'v2', storage: true, spec: Type.Object({ level: Type.Optional(Type.Integer()) }) },
    { name: 'v1', spec: Type.Object({ on: Type.Optional(Type.Boolean()) }) },
  ],
})
const conversion = defineConversion(bulb, { converters: { v1: { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) } } })
const operator = defineOperator({ name: 'bulbs', kinds: [bulb], conversions: [conversion] })
const name = 'bulbs.owners.example.com'

const controlPlane = await startControlPlane({ controllers: false })
t.teardown(() => controlPlane.stop())
const { client } = controlPlane
const service = (namespace: string) => ({ service: { namespace, name: 'hooks' } })
const url = { url: 'https://127.0.0.1:9443' }

async function converter(): Promise<unknown> {
  const { spec } = await client.get(customResourceDefinition, { name })
  const { service, url } = spec.conversion?.webhook?.clientConfig ?? {}
  return url ?? service?.namespace
}

t.test('the first installation converts until another takes over explicitly', async (t) => {
  for (const installation of ['team-a', 'team-b']) await installKinds(client, [operator], systemClock, { name: installation })
  await installWebhooks(client, [operator], service('a'), { name: 'team-a' })
  t.equal(await converter(), 'a')
  await installWebhooks(client, [operator], service('b'), { name: 'team-b' })
  t.equal(await converter(), 'a', 'the second installation does not take over')
  await installWebhooks(client, [operator], service('a'), { name: 'team-a' })
  await installWebhooks(client, [operator], service('b'), { name: 'team-b', forceConflicts: true })
  t.equal(await converter(), 'b')
})

t.test('a Service reference can be replaced by a URL, and a URL by a Service reference', async (t) => {
  const forced = { name: 'team-b', forceConflicts: true }
  await installWebhooks(client, [operator], url, forced)
  t.match(await converter(), /^https:\/\/127\.0\.0\.1:9443\/convert$/)
  await installWebhooks(client, [operator], service('b'), forced)
  t.equal(await converter(), 'b')
})
