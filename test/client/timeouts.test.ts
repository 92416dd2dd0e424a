import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import { clientOver } from '../../src/client/client.ts'
import { timeoutOf } from '../../src/client/timeouts.ts'
import type { Transport } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'

const request = (verb?: string, timeoutMs?: number): ApiRequest => ({ method: 'GET', path: '/x', ...(verb && { verb }), timeoutMs })
const byVerb = { list: 100, patch: 50, default: 20 }

for (const [name, sent, limits, expected] of [
  ['the default is 65 s', request('get'), undefined, 65_000],
  ['a number applies to all requests', request('list'), 10, 10],
  ['a verb has its own limit', request('list'), byVerb, 100],
  ['a server-side apply has the limit of a patch', request('apply'), byVerb, 50],
  ['another verb has the default limit', request('get'), byVerb, 20],
  ['a request without a verb has the default limit', request(), byVerb, 20],
  ['without a default limit it is 65 s', request('get'), { list: 1 }, 65_000],
  ['the limit of the request takes precedence', request('list', 7), byVerb, 7],
  ['a limit of 0 is a limit', request('list', 0), 10, 0],
] as const) {
  t.test(name, async (t) => t.equal(timeoutOf(sent, limits), expected))
}

t.test('the transport ends requests by the limit of their verb', async (t) => {
  const clock = new FakeClock()
  const server = await startTestServer(() => undefined)
  const transport = createTransport(server.connection, { clock, timeoutMs: { list: 5000, default: 1000 } })
  t.teardown(async () => (await transport.close(), await server.close()))
  const ended: string[] = []
  const client = clientOver(transport)
  const list = client.list(configMap).catch((error: unknown) => (ended.push('list'), error))
  const get = client.get(configMap, { namespace: 'a', name: 'x' }).catch((error: unknown) => error)
  const endless = client
    .get(configMap, { namespace: 'a', name: 'x' }, { timeoutMs: Infinity })
    .catch((error: unknown) => (ended.push('endless'), error))
  await eventually(() => server.requests.length === 3)
  await clock.advance(1000)
  t.match(await get, { code: 'PRO_API_UNREACHABLE' })
  t.strictSame(ended, [])
  await clock.advance(4000)
  t.match(await list, { code: 'PRO_API_UNREACHABLE' })
  await clock.advance(10_000_000)
  t.strictSame(ended, ['list'])
  await server.close()
  t.match(await endless, { code: 'PRO_API_UNREACHABLE' })
})

t.test('each verb passes on its time limit, which is not part of its query or body', async (t) => {
  const sent: ApiRequest[] = []
  const transport = {
    request: async (request: ApiRequest) => (sent.push(request), { statusCode: 200, headers: {}, body: {} }),
    stream: async (request: ApiRequest) => (sent.push(request), (async function* () {})()),
  } as unknown as Transport
  const client = clientOver(transport)
  const key = { namespace: 'ns', name: 'x' }
  const object = { metadata: key }
  const options = { timeoutMs: 1234 }
  await client.get(configMap, key, options)
  await client.list(configMap, options)
  for await (const _ of client.watch(configMap, options)) t.fail('no event')
  await client.create(configMap, object, options)
  await client.update(configMap, object, options)
  await client.patch(configMap, key, {}, options)
  await client.apply(configMap, object, options)
  await client.delete(configMap, key, options)
  await client.deleteCollection(configMap, { namespace: 'ns', ...options })
  for await (const _ of client.logs(key, options)) t.fail('no line')
  await client.raw('/x', options)
  t.equal(sent.length, 11)
  for (const { method, path, query, body, timeoutMs } of sent) {
    t.equal(timeoutMs, 1234, `${method} ${path}`)
    t.notMatch(JSON.stringify([query, body]), '1234')
  }
})
