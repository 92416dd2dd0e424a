import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { Dispatchers } from '../../src/client/dispatchers.ts'
import { createTransport } from '../../src/client/transport.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'
import { trustShapes } from '../support/certs/trust-shapes.ts'

const get = { method: 'GET', path: '/x' }

t.test('connections are bound to one client certificate and key', async (t) => {
  const tls = { cert: 'a', key: 'b' }
  const dispatchers = new Dispatchers({ server: 'https://localhost', describe: 'a test' }, tls)
  t.teardown(() => dispatchers.close())
  t.ok(dispatchers.carry({ ...tls }))
  for (const other of [{ cert: 'a', key: 'c' }, { cert: 'c', key: 'b' }, { cert: 'a' }, { key: 'b' }, {}])
    t.notOk(dispatchers.carry(other), JSON.stringify(other))
})

t.test('requests share at most a hundred connections', async (t) => {
  const waiting: ServerResponse[] = []
  const server = await startTestServer((_request, response) => void waiting.push(response))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  const answers = Array.from({ length: 102 }, () => transport.request(get))
  await eventually(() => waiting.length === 100)
  waiting[0]!.end()
  await eventually(() => waiting.length === 101)
  waiting[1]!.end()
  await eventually(() => waiting.length === 102)
  t.equal(server.sockets, 100)
  for (const response of waiting) response.end()
  await Promise.all(answers)
})

t.test('the server name of a certificate may differ from the host of the address', async (t) => {
  const { served, trusted } = trustShapes()
  const ca = trusted[0]![1]
  const server = await startTestServer(() => ({ body: {} }), { ...served, ca })
  t.teardown(() => server.close())
  const request = async (serverName: string): Promise<unknown> => {
    const transport = createTransport({ ...server.connection, serverName })
    t.teardown(() => transport.close())
    return (await transport.request(get)).body
  }
  t.strictSame(await request('hooks.system.svc'), {})
  await t.rejects(request('other.system.svc'), { code: 'PRO_API_UNREACHABLE', message: /is for other names: .*other\.system\.svc/ })
})

t.test('both pools take requests until they are retired, closed or destroyed, and may be closed after that', async (t) => {
  const stateOf = ({ requests, watches }: Dispatchers): unknown =>
    [requests, watches].map((pool) => {
      const { closed, destroyed } = pool as unknown as { readonly closed: boolean; readonly destroyed: boolean }
      return destroyed ? 'destroyed' : closed ? 'closed' : 'open'
    })
  const connection = { server: 'https://localhost', describe: 'a test' }
  const open = (): Dispatchers => new Dispatchers(connection, {})
  const [retired, closed, destroyed] = [open(), open(), open()]
  for (const dispatchers of [retired, closed, destroyed]) t.strictSame(stateOf(dispatchers), ['open', 'open'])
  void closed.close()
  t.strictSame(stateOf(closed), ['closed', 'destroyed'])
  destroyed.destroy()
  t.strictSame(stateOf(destroyed), ['destroyed', 'destroyed'])
  void retired.retire()
  t.strictSame(stateOf(retired), ['closed', 'closed'])
  await t.resolves(retired.close())
  await t.resolves(closed.close())
})

t.test('connections have TCP keep-alive probes after 30 s', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  const original = Reflect.get(Socket.prototype, 'setKeepAlive') as (...args: unknown[]) => Socket
  const capture = t.capture(Socket.prototype, 'setKeepAlive', function (this: Socket, ...args: unknown[]) {
    return original.apply(this, args)
  })
  await transport.request(get)
  t.strictSame(
    capture().map(({ args }) => args),
    [[true, 30_000]],
  )
})
