/** Tests of the requests and identities that a fault proxy forwards. A server records the requests that it receives. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import type { Connection } from '../../src/client/connection.ts'
import { startFaultProxy, type FaultProxy } from '../../src/testing/faults/fault-proxy.ts'

interface Recorded {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server that records its requests, and a fault proxy in front of it. */
async function setUp(t: Test, more: Partial<Connection> = {}, answer: Answer = (_, response) => response.end('fine')) {
  const authority = await issueAuthority(Date.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: ['127.0.0.1'], now: Date.now() })
  const recorded: Recorded[] = []
  const server = createServer(leaf, (request, response) => {
    const { method = '', url = '', headers } = request
    void text(request).then((body) => {
      recorded.push({ method, url, headers, body })
      answer(request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const connection: Connection = { server: `https://127.0.0.1:${port}`, ca: authority.cert, describe: 'a server', ...more }
  const proxy = await startFaultProxy(connection)
  t.teardown(() => proxy.stop())
  return { recorded, proxy, connection, port }
}

async function sendTo(
  { connection }: FaultProxy,
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>((resolve, reject) => {
    const outgoing = request(`${connection.server}${path}`, { method, headers, ca: connection.ca!, agent: false }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const tokenOf = async ({ authorization }: Connection): Promise<string> => (await authorization!()) ?? ''

t.test('the proxy has its own address, CA and tokens', async (t) => {
  const { proxy, connection } = await setUp(t, { namespace: 'mine', authorization: async () => 'Bearer secret' })
  const { server, ca, namespace, describe, authorization, ...others } = proxy.connection
  t.match(server, /^https:\/\/127\.0\.0\.1:\d+$/)
  t.not(server, connection.server)
  t.not(ca, connection.ca)
  t.strictSame([namespace, describe, others], ['mine', 'a server, through a fault proxy', {}]) // prettier-ignore
  t.match(await authorization!(), /^Bearer \S{20,}$/)
  t.not(await authorization!(), 'Bearer secret')
  const file = parse(readFileSync(proxy.kubeconfig, 'utf8')) as Record<string, Record<string, Record<string, string>>[]>
  t.match(file, {
    clusters: [{ cluster: { server, 'certificate-authority-data': Buffer.from(ca!).toString('base64') } }],
    users: [{ name: 'fault-proxy', user: { token: (await tokenOf(proxy.connection)).replace('Bearer ', '') } }],
    contexts: [{ context: { namespace: 'mine' } }],
  })
  t.notMatch(readFileSync(proxy.kubeconfig, 'utf8'), /secret/)
  const folder = dirname(proxy.kubeconfig)
  await proxy.stop()
  t.throws(() => readdirSync(folder), { code: 'ENOENT' })
  t.throws(() => proxy.through({ server: 'https://b', describe: 'b' }), {
    code: 'PRO_INPUT',
    message: `This proxy stands before ${connection.server}, and https://b is another API server.`,
  })
})

t.test('a request is passed on unchanged, with the credentials of the user of its token', async (t) => {
  const { proxy, recorded, connection, port } = await setUp(t, {
    authorization: async () => 'Bearer of-the-administrator',
    headers: { 'Impersonate-User': 'other' },
  })
  const headers = { authorization: await tokenOf(proxy.connection), 'x-mine': 'kept', te: 'trailers', 'content-type': 'text/x' }
  const answer = await sendTo(proxy, '/a/b?c=d&e', { method: 'POST', headers, body: 'the body' })
  t.match(answer, { status: 200, body: 'fine' })
  const { host, connection: _, 'content-length': length, ...passed } = recorded[0]!.headers
  t.strictSame([recorded[0]!.method, recorded[0]!.url, recorded[0]!.body], ['POST', '/a/b?c=d&e', 'the body']) // prettier-ignore
  t.equal(host, `127.0.0.1:${port}`, 'not that of the proxy')
  t.equal(length, '8')
  t.strictSame(passed, {
    authorization: 'Bearer of-the-administrator',
    'impersonate-user': 'other',
    'x-mine': 'kept',
    'content-type': 'text/x',
  })
  const reader = proxy.through({ ...connection, headers: {}, authorization: async () => 'Bearer of-the-reader' })
  await sendTo(proxy, '/', { headers: { authorization: await tokenOf(reader) } })
  t.equal(recorded[1]!.headers.authorization, 'Bearer of-the-reader')
  t.notOk('impersonate-user' in recorded[1]!.headers)
  for (const authorization of ['Bearer unknown', 'Basic abc', undefined]) {
    await sendTo(proxy, '/', { headers: { ...(authorization && { authorization }) } })
    t.equal(recorded.at(-1)!.headers.authorization, authorization, 'an unknown token gets no credentials')
    t.notOk('impersonate-user' in recorded.at(-1)!.headers)
  }
  const bare = proxy.through({ server: connection.server, ca: connection.ca!, describe: 'nobody' })
  const token = await tokenOf(bare)
  await sendTo(proxy, '/', { headers: { authorization: token } })
  t.equal(recorded.at(-1)!.headers.authorization, token, 'a user without credentials has none')
})

t.test('headers that concern only the connection of the client are not passed on', async (t) => {
  const { proxy, recorded } = await setUp(t)
  const ofConnection = {
    te: 'trailers',
    'keep-alive': 'timeout=7',
    'proxy-connection': 'keep-alive',
    trailer: 'x-late',
    upgrade: 'h2c',
    expect: '100-continue',
  }
  const answer = await sendTo(proxy, '/', {
    method: 'POST',
    headers: { ...ofConnection, 'transfer-encoding': 'chunked' },
    body: 'the body',
  })
  t.equal(answer.status, 200)
  t.equal(recorded[0]!.body, 'the body')
  t.strictSame(
    Object.keys(recorded[0]!.headers).filter((name) => name in ofConnection),
    [],
  )
})

t.test('an answer is passed on without hop-by-hop headers', async (t) => {
  const { proxy } = await setUp(t, {}, (_, response) => {
    response.writeHead(418, { 'content-type': 'text/x', 'keep-alive': 'timeout=7', 'x-yours': ['a', 'b'] })
    response.end('short')
  })
  const { status, headers, body } = await sendTo(proxy, '/')
  t.strictSame([status, body, headers['content-type'], headers['x-yours']], [418, 'short', 'text/x', 'a, b']) // prettier-ignore
  t.not(headers['keep-alive'], 'timeout=7')
})

t.test('a broken answer is a broken connection for the client', async (t) => {
  const { proxy } = await setUp(t, {}, (request, response) => {
    if (request.url === '/at-once') request.socket.destroy()
    else {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => request.socket.destroy())
    }
  })
  await t.rejects(sendTo(proxy, '/at-once'), { code: 'ECONNRESET' })
  await t.rejects(sendTo(proxy, '/half'))
})

t.test('an answer of the proxy does not reach the server', async (t) => {
  const { proxy, recorded } = await setUp(t)
  const matched: string[] = []
  const fault = proxy.answer(429, {
    retryAfterSeconds: 3,
    match: ({ method, path, query, userAgent }) => matched.push(`${method} ${path} ${query.get('a')} ${userAgent}`) > 0,
  })
  const { status, headers, body } = await sendTo(proxy, '/x?a=b', {
    method: 'PUT',
    headers: { 'user-agent': 'me' },
    body: 'y'.repeat(100_000),
  })
  t.strictSame([status, headers['content-type'], headers['retry-after']], [429, 'application/json', '3']) // prettier-ignore
  t.match(JSON.parse(body), { kind: 'Status', code: 429 })
  t.ok(body.endsWith('}\n'))
  t.strictSame(matched, ['PUT /x b me'])
  t.strictSame(recorded, [])
  fault.end()
  t.match(await sendTo(proxy, '/'), { status: 200 })
  proxy.answer(500)
  t.notOk('retry-after' in (await sendTo(proxy, '/')).headers)
})

t.test('the path of the API server is part of the address', async (t) => {
  const { connection } = await setUp(t)
  for (const path of ['/below', '/below/']) {
    const proxy = await startFaultProxy({ ...connection, server: `${connection.server}${path}` })
    t.teardown(() => proxy.stop())
    t.match(proxy.connection.server, /^https:\/\/127\.0\.0\.1:\d+\/below$/)
  }
})

t.test('misspelled options of faults are refused', async (t) => {
  const { proxy } = await setUp(t)
  const call = (options: object): never => options as never
  t.throws(() => proxy.delay(call({ toServer: 5 })), { code: 'PRO_CONFIG_INVALID', message: /proxy\.delay .*: toServer: unknown field/ })
  t.throws(() => proxy.cut(call({ alsonew: true })), /proxy\.cut .*: alsonew: unknown field; did you mean alsoNew\?/)
  t.throws(() => proxy.halfOpen(call({ direction: 'toclient' })), /proxy\.halfOpen .*: direction: must be one of "both", /)
  t.throws(() => proxy.answer(call(502 as never)), /proxy\.answer .*: code: must be one of 400, /)
})
