/**
 * Tests of a fault proxy with single requests and a server that records the requests. `test/conformance/fault-proxy.test.ts` tests the
 * fault proxy with a control plane.
 */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { request } from 'node:https'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import type { Connection } from '../../../src/client/connection.ts'
import { loadConnection } from '../../../src/client/kubeconfig.ts'
import type { FaultProxy } from '../../../src/testing/faults/fault-proxy.ts'
import { startFaultProxy } from '../../../src/testing/faults/fault-proxy.ts'
import type { Handler, TestServer } from '../../support/client/server.ts'
import { startTestServer } from '../../support/client/server.ts'
import { until } from '../../../src/testing/until.ts'

interface Fixture {
  readonly server: TestServer
  readonly proxy: FaultProxy
}

async function fixture(
  t: Test,
  change: Partial<Connection> & { readonly path?: string } = {},
  handler: Handler = () => ({}),
): Promise<Fixture> {
  const { path = '', ...rest } = change
  const server = await startTestServer(handler)
  t.teardown(() => server.close())
  const proxy = await startFaultProxy({ ...server.connection, ...rest, server: `${server.url}${path}` })
  t.teardown(() => proxy.stop())
  return { server, proxy }
}

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends an HTTP request to the proxy without the framework's client, because that client could change or retry the request. */
async function send(
  { server, ca, authorization }: Connection,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
    as = '',
  }: { method?: string; headers?: Record<string, string>; body?: string; as?: string } = {},
): Promise<Answered> {
  const own = as === '' ? await authorization?.() : as
  const sent = request(`${server}${path}`, {
    method,
    ca,
    headers: { ...(own !== undefined && { authorization: own }), ...headers },
    agent: false,
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode!, headers: response.headers, body: text }
}

t.test('a request is passed on unchanged, with the credentials of the connection', async (t) => {
  const { server, proxy } = await fixture(
    t,
    { path: '/prefix/', authorization: () => Promise.resolve('Bearer own'), headers: { 'impersonate-user': 'jane' } },
    () => ({ status: 201, headers: { 'x-answer': 'yes', warning: ['299 - "a"', '299 - "b"'] }, body: 'made' }),
  )
  const { hostname, pathname } = new URL(proxy.connection.server)
  t.strictSame([hostname, pathname], ['127.0.0.1', '/prefix'])
  const answer = await send(proxy.connection, '/api/v1/pods?dryRun=All&x=%20', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json', 'x-custom': 'a', te: 'trailers', 'keep-alive': '1' },
    body: '{"a":1}',
  })
  const { headers } = answer
  t.strictSame([answer.status, answer.body, headers['x-answer'], headers['warning']], [201, 'made', 'yes', '299 - "a", 299 - "b"'])
  t.equal(server.requests.length, 1)
  const received = server.requests[0]!
  t.strictSame([received.method, received.url, received.body], ['PATCH', '/prefix/api/v1/pods?dryRun=All&x=%20', '{"a":1}'])
  const {
    host,
    authorization,
    te,
    'impersonate-user': impersonated,
    'x-custom': custom,
    'keep-alive': keepAlive,
    ...others
  } = received.headers
  t.strictSame([authorization, impersonated, custom, te, keepAlive], ['Bearer own', 'jane', 'a', undefined, undefined])
  t.equal(host, new URL(server.url).host)
  t.strictSame([others['content-type'], others['content-length']], ['application/merge-patch+json', '7'])
})

t.test('another token, or none, is passed on without other credentials', async (t) => {
  const { server, proxy } = await fixture(t, {
    authorization: () => Promise.resolve('Bearer own'),
    headers: { 'impersonate-user': 'jane' },
  })
  await send(proxy.connection, '/a', { as: 'Bearer stranger' })
  await send({ ...proxy.connection, authorization: () => Promise.resolve(undefined as never) }, '/b')
  const token = (await proxy.connection.authorization!())!.replace('Bearer ', '')
  await send(proxy.connection, '/c', { as: `bearer   ${token}` })
  t.strictSame(
    server.requests.map(({ url, headers }) => [url, headers.authorization, headers['impersonate-user']]),
    [
      ['/a', 'Bearer stranger', undefined],
      ['/b', undefined, undefined],
      ['/c', 'Bearer own', 'jane'],
    ],
  )
})

t.test('a connection without credentials is identified by the token of the proxy', async (t) => {
  const { server, proxy } = await fixture(t, { headers: { 'x-forwarded': 'yes' } })
  await send(proxy.connection, '/a')
  const other = proxy.through({ ...server.connection, authorization: () => Promise.resolve('Bearer joe') })
  await send(other, '/b')
  await send(other, '/c')
  t.strictSame(
    server.requests.map(({ url, headers }) => [url, headers.authorization, headers['x-forwarded']]),
    [
      ['/a', await proxy.connection.authorization!(), 'yes'],
      ['/b', 'Bearer joe', undefined],
      ['/c', 'Bearer joe', undefined],
    ],
  )
})

t.test('watch events are passed on at once, and the watch ends with its client', async (t) => {
  let response: ServerResponse | undefined
  const { proxy } = await fixture(t, {}, (_request, answering) => {
    response = answering
    answering.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    return undefined
  })
  const sent = request(`${proxy.connection.server}/watch`, { ca: proxy.connection.ca, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage]
  incoming.on('error', () => undefined)
  t.equal(incoming.statusCode, 200)
  for (const event of ['one', 'two']) {
    const received = once(incoming, 'data')
    response!.write(event)
    t.equal(String((await received)[0]), event)
  }
  const closed = once(response!, 'close')
  sent.destroy()
  await closed
  await until('it has gone', () => proxy.connections.length === 0)
})

t.test('a request whose client leaves before the answer is aborted at the server', async (t) => {
  const received = Promise.withResolvers<ServerResponse>()
  const { proxy } = await fixture(t, {}, (_request, response) => {
    received.resolve(response)
    return undefined
  })
  const sent = request(`${proxy.connection.server}/slow`, { ca: proxy.connection.ca, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  const response = await received.promise
  const closed = once(response, 'close')
  sent.destroy()
  await closed
})

t.test('a server that breaks off is a broken connection', async (t) => {
  const { proxy } = await fixture(t, {}, ({ url }, response) => {
    if (url === '/half') response.writeHead(200, { 'content-length': '10' }).write('12345', () => response.destroy())
    else response.destroy()
    return undefined
  })
  await t.rejects(send(proxy.connection, '/none'), { code: 'ECONNRESET' })
  await t.rejects(send(proxy.connection, '/half'), { code: 'ECONNRESET' })
})

t.test('an answer of the proxy does not reach the server, for any request', async (t) => {
  const { server, proxy } = await fixture(t)
  const matched: unknown[] = []
  proxy.answer(503, {
    retryAfterSeconds: 3,
    match: ({ method, path, query, userAgent }) => {
      matched.push([method, path, query.toString(), userAgent])
      return path !== '/other'
    },
  })
  const answer = await send(proxy.connection, '/a/b?c=d', {
    method: 'POST',
    headers: { 'user-agent': 'me', 'content-length': '100000' },
    body: 'x'.repeat(100_000),
  })
  const { status, headers, body } = answer
  t.strictSame([status, headers['retry-after'], headers['content-type']], [503, '3', 'application/json'])
  t.match(JSON.parse(body), { kind: 'Status', code: 503, details: { retryAfterSeconds: 3 } })
  t.match(body, /\n$/)
  await send(proxy.connection, '/other')
  t.strictSame(matched, [
    ['POST', '/a/b', 'c=d', 'me'],
    ['GET', '/other', '', ''],
  ])
  t.strictSame(
    server.requests.map(({ url }) => url),
    ['/other'],
  )
  proxy.answer(500)
  proxy.heal()
  t.equal((await send(proxy.connection, '/a')).status, 200)
})

t.test('connection and kubeconfig agree, and end with the proxy', async (t) => {
  const { server, proxy } = await fixture(t, { namespace: 'ns', path: '/prefix' })
  const { connection, kubeconfig } = proxy
  t.strictSame([connection.namespace, connection.describe], ['ns', 'a test, through a fault proxy'])
  const file = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[]
    readonly contexts: readonly { readonly context: { readonly namespace?: string } }[]
  }
  t.strictSame([file.users[0]!.name, file.contexts[0]!.context.namespace], ['proreus-fault-proxy', 'ns'])
  t.equal(`Bearer ${file.users[0]!.user.token}`, await connection.authorization!())
  const loaded = await loadConnection({ kubeconfig, env: {} })
  t.strictSame([loaded.server, loaded.ca, loaded.namespace], [connection.server, connection.ca, 'ns'])
  const other = proxy.through({ server: `${server.url}/prefix`, describe: 'x' })
  t.notOk('namespace' in other)
  t.not(await other.authorization!(), await connection.authorization!())
  let refused: unknown
  try {
    proxy.through({ server: 'https://127.0.0.1:1', describe: 'x' })
  } catch (error) {
    refused = error
  }
  t.match(refused, { code: 'PRO_INPUT' })
  t.equal((refused as Error).message, `This proxy stands before ${server.url}/prefix, and https://127.0.0.1:1 is another API server.`)
  await proxy.stop()
  await proxy.stop()
  t.equal(existsSync(kubeconfig), false)
  await t.rejects(send(connection, '/a'), { code: 'ECONNREFUSED' })
})

t.test('a delay applies to the given directions, or to both', async (t) => {
  const { proxy } = await fixture(t)
  for (const [delay, least] of [
    [{ toServerMs: 40 }, 40],
    [{ toClientMs: 40 }, 40],
    [40, 80],
  ] as const) {
    const fault = proxy.delay(delay)
    const began = performance.now()
    await send(proxy.connection, '/a')
    const ms = performance.now() - began
    // The TLS handshake and the request take one round trip each.
    t.ok(ms >= 2 * least - 5, `${JSON.stringify(delay)}: ${ms}`)
    fault.end()
  }
})

t.test('a direction that is not held keeps flowing', async (t) => {
  const { server, proxy } = await fixture(t)
  for (const [direction, arrives] of [
    ['toClient', true],
    ['toServer', false],
    [undefined, false],
  ] as const) {
    const sent = request(`${proxy.connection.server}/${direction}`, { ca: proxy.connection.ca, agent: false, method: 'POST' })
    sent.on('error', () => undefined)
    sent.flushHeaders()
    const [socket] = (await once(sent, 'socket')) as [NodeJS.EventEmitter]
    await once(socket, 'secureConnect')
    await until('it is open', () => proxy.connections.length === 1)
    const fault = proxy.halfOpen(direction === undefined ? {} : { direction })
    sent.end()
    let answered = false
    sent.once('response', (response: IncomingMessage) => {
      answered = true
      response.resume()
    })
    const has = (): boolean => server.requests.some(({ url }) => url === `/${direction}`)
    if (arrives) await until('it arrives', has)
    t.strictSame([has(), answered], [arrives, false], String(direction))
    fault.end()
    await until('it is answered', () => answered)
    sent.destroy()
    await until('it has gone', () => proxy.connections.length === 0)
  }
})
