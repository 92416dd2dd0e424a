import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { core, createClient } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane, FaultProxy } from 'proreus/testing'
import { hello, operator } from '../hello.ts'

let controlPlane: ControlPlane
let proxy: FaultProxy
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  proxy = await controlPlane.faultProxy()
  await controlPlane.startOperator([operator], { connection: proxy.connection })
})
after(() => controlPlane.stop())

/**
 * Creates a Hello with a client that does not use the proxy. Then waits until the operator, which uses the proxy, has created the
 * ConfigMap.
 */
async function greet(name: string): Promise<void> {
  await controlPlane.client.create(hello, { metadata: { namespace: 'test', name }, spec: { message: 'hi' } })
  await until(`${name} is greeted`, () => controlPlane.client.get(core.configMap, { namespace: 'test', name }), 30_000)
}

test('the operator outlives a restart of the API server', async () => {
  const away = proxy.cut({ alsoNew: true })
  const greeted = greet('after-restart')
  setTimeout(() => away.end(), 500)
  await greeted
})

test('it tries again when the API server is too busy', async () => {
  const busy = proxy.answer(429, { retryAfterSeconds: 1, count: 2, match: ({ method }) => method === 'PATCH' })
  await greet('while-busy')
  assert.equal(busy.answered, 2)
})

test('it bears a slow network, and one that stands still for a moment', async () => {
  proxy.delay({ toServerMs: 20, toClientMs: 80 })
  const silent = proxy.halfOpen()
  setTimeout(() => silent.end(), 300)
  await greet('slowly')
  proxy.heal()
})

test('a request that is not answered ends with an error that says so', async () => {
  const client = createClient(proxy.connection, { timeoutMs: 200 })
  proxy.halfOpen({ alsoNew: true })
  await assert.rejects(client.raw('/readyz'), { code: 'PRO_API_UNREACHABLE' })
  proxy.heal()
  await client.close()
})
