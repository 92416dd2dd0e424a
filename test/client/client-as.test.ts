import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { clientWithSignal } from '../../src/client/client-with-signal.ts'
import { clientAs } from '../../src/client/client-as.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import { createTransport } from '../../src/client/transport.ts'
import { userAgentOf } from '../../src/client/user-agent.ts'
import { startTestServer } from '../support/client/server.ts'

const object = { metadata: { name: 'x', namespace: 'ns' } }

t.test('clients of several operators share connections, and have their own user agents and field managers', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  const clients = [clientAs(transport, { name: 'hello', version: '1.2.3' }), clientAs(transport, { name: 'bye' })]
  const { signal } = new AbortController()
  t.strictSame(
    clients.map((client) => clientWithSignal(client, signal).fieldManager),
    ['hello', 'bye'],
  )
  for (const client of clients) {
    await client.apply(configMap, object)
    await client.list(configMap)
  }
  const sent = server.requests.map(({ headers, url }) => [
    headers['user-agent'],
    new URL(url ?? '', 'http://x').searchParams.get('fieldManager'),
  ])
  const platform = `\\(${process.platform}/${process.arch}\\) proreus/\\d+\\.\\d+\\.\\d+\\S*`
  const [hello, bye] = [new RegExp(`^hello/1\\.2\\.3 ${platform}$`), new RegExp(`^bye/unknown ${platform}$`)]
  t.equal(sent.length, 4)
  for (const [index, [userAgent, fieldManager]] of sent.entries()) {
    t.match(userAgent, index < 2 ? hello : bye)
    t.equal(fieldManager, index % 2 === 1 ? null : index < 2 ? 'hello' : 'bye')
  }
  t.ok(server.sockets <= 2, `${server.sockets} connections`)
})

t.test('closing one client keeps the connections of others', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  await clientAs(transport, { name: 'hello' }).close()
  await clientAs(transport, { name: 'bye' }).list(configMap)
  t.equal(server.requests.length, 1)
})

t.test('watches have the user agent too, and requests keep their options', async (t) => {
  const sent: ApiRequest[] = []
  const transport = {
    request: async (request: ApiRequest) => (sent.push(request), { statusCode: 200, headers: {}, body: {} }),
    stream: async (request: ApiRequest) => (sent.push(request), (async function* () {})()),
    close: () => Promise.reject(new Error('not its own')),
  } as unknown as Transport
  const client = clientAs(transport, { name: 'hello', version: '1.2.3' })
  const { signal } = new AbortController()
  for await (const _ of client.watch(configMap, { namespace: 'ns', signal })) t.fail('no event')
  await client.get(configMap, { namespace: 'ns', name: 'x' }, { signal })
  await client.close()
  const common = { type: configMap, method: 'GET', signal, userAgent: userAgentOf({ name: 'hello', version: '1.2.3' }) }
  t.strictSame(sent, [
    { ...common, verb: 'watch', path: '/api/v1/namespaces/ns/configmaps', query: { watch: true } },
    { ...common, verb: 'get', path: '/api/v1/namespaces/ns/configmaps/x' },
  ])
})
