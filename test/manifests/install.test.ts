import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { Type } from '../../src/api/type.ts'
import type { Client } from '../../src/client/client.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { whenTrusted } from '../../src/manifests/install.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind, { validate: () => [] })] })

/** Waits for the trust in configurations whose webhooks have these `caBundle`s. */
async function outcome(caBundles: readonly (string | undefined)[]): Promise<string> {
  const clock = new FakeClock()
  const webhooks = caBundles.map((caBundle) => ({ clientConfig: { ...(caBundle === undefined ? {} : { caBundle }) } }))
  const client = { get: async () => ({ webhooks }) } as unknown as Client
  let ended: string | undefined
  const waiting = whenTrusted(client, [operator], clock).then(
    () => (ended = 'trusted'),
    (error: unknown) => (ended = error instanceof ProreusError ? `${error.code}: ${error.message}` : String(error)),
  )
  for (let passed = 0; ended === undefined && passed < 20_000; passed += 1000) await clock.advance(1000)
  return waiting
}

t.test('webhooks are trusted when each of them has a caBundle', async (t) => {
  t.equal(await outcome(['a', 'b']), 'trusted')
  const late = 'PRO_CERTIFICATE: The MutatingWebhookConfiguration thing-mutating got no caBundle in time; the log says why.'
  t.equal(await outcome(['a', undefined]), late)
  t.equal(await outcome(['', 'b']), late)
})
