import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { Clock } from '../../src/api/clock.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { failure } from '../../src/api/status.ts'
import type { ApiError } from '../../src/client/api-error.ts'
import { isAlreadyExists, isNotFound, isTooManyRequests, isUnauthorized } from '../../src/client/api-error.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { RequestReport, Transport, TransportOptions } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { testCertificate } from '../support/client-certificates.ts'
import type { Handler, TestServer } from '../support/client-server.ts'
import { startTestServer } from '../support/client-server.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'

const get = { method: 'GET', path: '/api/v1/pods' }
const post = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: '{}' }

async function setUp(
  t: Test,
  handler: Handler,
  options: TransportOptions & { connection?: Partial<Connection> } = {},
): Promise<{ server: TestServer; transport: Transport }> {
  const server = await startTestServer(handler)
  const { connection, ...rest } = options
  const transport = createTransport({ ...server.connection, ...connection }, { userAgent: 'test', ...rest })
  t.teardown(async () => {
    await transport.close()
    await server.close()
  })
  return { server, transport }
}

async function failureOf(promise: Promise<unknown>): Promise<ProreusError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof ProreusError) return error
    throw error
  }
  throw new Error('expected a rejection')
}

t.test('gives integers beyond 2^53 with all their digits', async (t) => {
  const headers = { 'content-type': 'application/json' }
  const { transport } = await setUp(t, () => ({ headers, body: '{"a":[9007199254740993,9007199254740992,-9223372036854775808,5]}' }))
  t.strictSame((await transport.request(get)).body, { a: [9007199254740993n, 9007199254740992n, -9223372036854775808n, 5] })
})

t.test('gives parsed JSON, and text where the server says that it is text', async (t) => {
  const { server, transport } = await setUp(t, ({ url }) => ({ body: url === '/readyz' ? 'ok' : { items: [] } }), {
    connection: { headers: { 'Impersonate-User': 'jane', 'Impersonate-Group': ['a', 'b'] }, authorization: async () => 'Bearer x' },
  })
  t.strictSame((await transport.request({ ...get, query: { limit: 5, labelSelector: 'a=b,c', continue: undefined } })).body, { items: [] })
  t.equal((await transport.request({ method: 'GET', path: '/readyz' })).body, 'ok')
  const [first] = server.requests
  t.equal(first?.url, '/api/v1/pods?limit=5&labelSelector=a%3Db%2Cc')
  t.match(first?.headers, {
    'user-agent': 'test',
    accept: 'application/json',
    authorization: 'Bearer x',
    'impersonate-user': 'jane',
    'impersonate-group': 'a, b',
  })
  t.equal(first?.headers['content-type'], undefined)
})

t.test('names itself with its version', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(get)
  t.match(server.requests[0]?.headers['user-agent'], /^proreus\/\d+\.\d+\.\d+/)
})

t.test('keeps the path of a server below one', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport({ ...server.connection, server: `${server.url}/k8s/clusters/one/` }, { userAgent: 'test' })
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(get)
  t.equal(server.requests[0]?.url, '/k8s/clusters/one/api/v1/pods')
})

t.test('keeps TLS connections for requests that follow each other, on HTTP/1.1', async (t) => {
  const ca = testCertificate('ca')
  const connections = new Set<Socket>()
  const handler: Handler = ({ clientName }, { socket }) => {
    if (clientName === 'first') connections.add(socket!)
    return { body: {} }
  }
  const server = await startTestServer(handler, { ...testCertificate('server', ca), ca: ca.cert })
  const client = [testCertificate('first', ca), testCertificate('second', ca)]
  let current = client[0]
  const transport = createTransport({ ...server.connection, tls: async () => current ?? {} }, { userAgent: 'test' })
  t.teardown(async () => (await transport.close(), await server.close()))
  for (let i = 0; i < 50; i += 1) await transport.request(get)
  // The pool may open a second one when a request comes in the very moment that an answer ends.
  const before = server.sockets
  t.ok(before <= 2, `${before} connections for 50 requests`)
  t.equal(server.requests[0]?.clientName, 'first')

  t.test('and a new one when the client certificate changes', async (t) => {
    current = client[1]
    await transport.request(get)
    await eventually(() => [...connections].every((socket) => socket.destroyed))
    t.equal(server.sockets, before + 1)
    t.equal(server.requests.at(-1)?.clientName, 'second')
  })
})

t.test('turns failed answers into ApiError', async (t) => {
  const conflict = failure(409, 'AlreadyExists', 'pods "x" already exists', {
    name: 'x',
    kind: 'pods',
    causes: [{ field: 'metadata.name' }],
  })
  const { transport } = await setUp(t, ({ url }) => {
    if (url === '/status') return { status: 409, body: conflict }
    if (url === '/text') return { status: 404, body: '404 page not found\n' }
    return { status: 502, headers: { 'content-type': 'text/html' }, body: '' }
  })

  t.test('from a Status', async (t) => {
    const error = await failureOf(transport.request({ method: 'POST', path: '/status', body: '{}' }))
    t.ok(isAlreadyExists(error))
    t.match(error, {
      name: 'ApiError',
      code: 'PRO_API',
      statusCode: 409,
      message: 'pods "x" already exists',
      causes: [{ field: 'metadata.name' }],
    })
  })
  t.test('from a plain text', async (t) => {
    const error = await failureOf(transport.request({ method: 'GET', path: '/text' }))
    t.ok(isNotFound(error))
    t.equal(error.message, 'the API server answered GET /text with 404: 404 page not found')
  })
  t.test('from nothing but a code', async (t) => {
    const error = await failureOf(transport.stream({ method: 'GET', path: '/empty' }))
    t.match(error, { statusCode: 502, reason: 'Unknown', message: 'the API server answered GET /empty with 502' })
  })
})

t.test('waits as long as Retry-After says', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '2' }, body: failure(429, 'TooManyRequests', 'too busy') }
  const down = { status: 503, headers: { 'retry-after': '1' }, body: 'apiserver is shutting down' }

  t.test('and asks again after a 429, whatever the method', async (t) => {
    const clock = new FakeClock()
    const { server, transport } = await setUp(t, (_request, _response, index) => (index < 2 ? busy : { body: { done: true } }), { clock })
    const started = clock.now()
    const answer = transport.request(post)
    await eventually(() => server.requests.length === 1 && clock.nextDue === started + 2000)
    await clock.advance(2000)
    await eventually(() => server.requests.length === 2 && clock.nextDue === started + 4000)
    await clock.advance(2000)
    t.strictSame((await answer).body, { done: true })
    t.equal(server.requests.length, 3)
  })
  t.test('and gives up after five repeats', async (t) => {
    const { server, transport } = await setUp(t, () => ({ ...busy, headers: { 'retry-after': '0' } }))
    const error = await failureOf(transport.request(get))
    t.ok(isTooManyRequests(error))
    t.equal((error as ApiError).retryAfterSeconds, 0)
    t.equal(server.requests.length, 6)
  })
  t.test('and does not send a create twice after a 503', async (t) => {
    const { server, transport } = await setUp(t, ({ method }, _response, index) =>
      index === 0 || method === 'POST' ? { ...down, headers: { 'retry-after': '0' } } : { body: {} },
    )
    await transport.request({ ...get, method: 'PUT', body: '{}' })
    t.equal(server.requests.length, 2)
    await failureOf(transport.request(post))
    t.equal(server.requests.length, 3)
  })
  t.test('but not for minutes, nor without the header', async (t) => {
    const { server, transport } = await setUp(t, (_request, _response, index) => ({
      ...busy,
      headers: index === 0 ? { 'retry-after': '600' } : {},
    }))
    t.match(await failureOf(transport.request(get)), { retryAfterSeconds: 600 })
    t.match(await failureOf(transport.request(get)), { statusCode: 429, retryAfterSeconds: undefined })
    t.equal(server.requests.length, 2)
  })
  t.test('and stops waiting when aborted', async (t) => {
    const clock = new FakeClock()
    const { transport } = await setUp(t, () => busy, { clock })
    const abort = new AbortController()
    const started = clock.now()
    const answer = transport.request({ ...get, signal: abort.signal })
    const rejected = t.rejects(answer, new Error('enough'))
    await eventually(() => clock.nextDue === started + 2000)
    abort.abort(new Error('enough'))
    await rejected
    t.equal(clock.pending, 0)
  })
})

t.test('asks for other credentials once when they are refused', async (t) => {
  const asked: (string | undefined)[] = []
  const { server, transport } = await setUp(
    t,
    ({ headers }) =>
      headers.authorization === 'Bearer new' ? { body: {} } : { status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') },
    {
      connection: {
        authorization: async (refused) => {
          asked.push(refused)
          return refused === undefined ? 'Bearer old' : 'Bearer new'
        },
      },
    },
  )
  await transport.request(post)
  t.strictSame(asked, [undefined, 'Bearer old'])
  t.equal(server.requests.length, 2)
})

t.test('says whose credentials were refused', async (t) => {
  const { server, transport } = await setUp(t, () => ({ status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') }), {
    connection: { authorization: async () => 'Bearer old' },
  })
  const error = await failureOf(transport.request(get))
  t.ok(isUnauthorized(error))
  t.equal(error.message, `Unauthorized (${server.url} does not accept the credentials of a test: renew them, or choose others)`)
  t.equal(server.requests.length, 1)
})

t.test('asks for other credentials no more than once for a request', async (t) => {
  let asked = 0
  const { server, transport } = await setUp(t, () => ({ status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') }), {
    connection: { authorization: async () => `Bearer ${asked++}` },
  })
  t.ok(isUnauthorized(await failureOf(transport.request(get))))
  t.strictSame(
    server.requests.map(({ headers }) => headers.authorization),
    ['Bearer 0', 'Bearer 1'],
  )
  t.equal(asked, 2)
})

t.test('only a refusal of the credentials tells to renew them', async (t) => {
  const asked: (string | undefined)[] = []
  const { transport } = await setUp(t, () => ({ status: 403, body: failure(403, 'Forbidden', 'no') }), {
    connection: { authorization: async (refused) => (asked.push(refused), 'Bearer x') },
  })
  t.equal((await failureOf(transport.request(get))).message, 'no')
  t.strictSame(asked, [undefined])
})

t.test('sends what the request says, and JSON where it says nothing', async (t) => {
  const { server, transport } = await setUp(t, () => ({ body: {} }))
  await transport.request(post)
  await transport.request({
    ...post,
    method: 'PATCH',
    accept: 'text/plain',
    contentType: 'application/merge-patch+json',
    userAgent: 'other',
  })
  for await (const _ of await transport.stream({ ...get, query: { watch: true } }));
  t.strictSame(
    server.requests.map(({ method, url, body, headers }) => [
      method,
      url,
      body,
      headers['user-agent'],
      headers.accept,
      headers['content-type'],
      headers.authorization,
    ]),
    [
      ['POST', '/api/v1/namespaces/a/pods', '{}', 'test', 'application/json', 'application/json', undefined],
      ['PATCH', '/api/v1/namespaces/a/pods', '{}', 'other', 'text/plain', 'application/merge-patch+json', undefined],
      ['GET', '/api/v1/pods?watch=true', '', 'test', 'application/json', undefined, undefined],
    ],
  )
})

t.test('an answer is JSON by its content type', async (t) => {
  const { transport } = await setUp(t, ({ headers }, response) => {
    const type = headers.accept!
    response.writeHead(201, type === 'none' ? {} : { 'content-type': type }).end('{"a":1}')
    return undefined
  })
  const json = { a: 1 }
  for (const [type, body] of [
    ['application/json', json],
    ['Application/JSON;charset=utf-8', json],
    ['application/vnd.cncf.helm.chart-1+json', json],
    ['application/jsonlines', '{"a":1}'],
    ['application/yaml', '{"a":1}'],
    ['text/json', '{"a":1}'],
    ['none', '{"a":1}'],
  ] as const) {
    const { statusCode, headers, body: given } = await transport.request({ ...get, accept: type })
    t.strictSame([statusCode, headers['content-type'], given], [201, type === 'none' ? undefined : type, body])
  }
})

t.test('only codes from 200 to 299 are answers', async (t) => {
  const { transport } = await setUp(t, ({ url }) => ({ status: Number(url.slice(1)), body: 'x' }))
  for (const code of [200, 204, 299]) t.equal((await transport.request({ method: 'GET', path: `/${code}` })).statusCode, code)
  for (const code of [300, 302, 404, 500]) {
    t.match(await failureOf(transport.request({ method: 'GET', path: `/${code}` })), { statusCode: code })
    t.match(await failureOf(transport.stream({ method: 'GET', path: `/${code}` })), { statusCode: code })
  }
  for await (const chunk of await transport.stream({ method: 'GET', path: '/299' })) t.equal(String(chunk), 'x')
})

t.test('reports warnings and how requests went', async (t) => {
  const warnings: string[] = []
  const warned: unknown[] = []
  const reports: RequestReport[] = []
  const { server, transport } = await setUp(
    t,
    ({ url }) =>
      url === '/gone' ? { status: 404, body: 'gone' } : { headers: { warning: ['299 - "one \\"quoted\\""', '299 - "two"'] }, body: {} },
    { onWarning: (text, request) => (warnings.push(text), warned.push(request)), onRequest: (report) => reports.push(report) },
  )
  await transport.request({ ...get, verb: 'list' })
  await failureOf(transport.request({ method: 'GET', path: '/gone' }))
  t.strictSame(warnings, ['one "quoted"', 'two'])
  t.strictSame(warned[0], { method: get.method, path: get.path })
  const host = new URL(server.url).host
  for await (const _ of await transport.stream({ ...get, verb: 'watch' }));
  await transport.request(post)
  t.strictSame(warnings, ['one "quoted"', 'two', 'one "quoted"', 'two', 'one "quoted"', 'two'])
  t.strictSame(warned.at(-1), { method: 'POST', path: post.path })
  t.strictSame(
    reports.map(({ seconds: _, ...report }) => report),
    [
      { method: 'GET', verb: 'list', host, code: 200 },
      { method: 'GET', verb: 'get', host, code: 404 },
      { method: 'GET', verb: 'watch', host, code: 200 },
      { method: 'POST', verb: 'post', host, code: 200 },
    ],
  )
  t.ok(reports.every(({ seconds }) => seconds >= 0 && seconds < 60))
})

t.test('asks once more when a kept connection ends under a read', async (t) => {
  const { server, transport } = await setUp(t, (_request, response, index) => {
    if (index % 2 === 0) return { body: { index } }
    response.destroy()
    return undefined
  })
  await transport.request(get)
  t.strictSame((await transport.request(get)).body, { index: 2 })
  const error = await failureOf(transport.request(post))
  t.match(error, { code: 'PRO_API_UNREACHABLE', message: /^The connection to http:.* was lost .*: try again\.$/ })
  t.equal(server.requests.length, 4)
})

t.test('gives up a request that gets no answer in time', async (t) => {
  const clock = new FakeClock()
  const reports: RequestReport[] = []
  const { server, transport } = await setUp(t, () => undefined, { clock, timeoutMs: 60_000, onRequest: (report) => reports.push(report) })
  const answer = failureOf(transport.request(get))
  await eventually(() => server.requests.length === 1)
  await clock.advance(59_999)
  t.strictSame(reports, [])
  await clock.advance(1)
  t.match(await answer, { code: 'PRO_API_UNREACHABLE', message: /did not answer in time/ })
  t.strictSame([reports.length, reports[0]?.code, reports[0]?.verb], [1, 'error', 'get'])
})

t.test('an attempt has 65 s, unless the options say otherwise', async (t) => {
  const clock = new FakeClock()
  const { transport } = await setUp(t, () => undefined, { clock })
  const answer = failureOf(transport.request(get))
  await clock.untilPending()
  t.equal(clock.nextDue, clock.now() + 65_000)
  await clock.advance(65_000)
  t.match(await answer, { message: /did not answer in time/ })
  t.equal(clock.pending, 0)
})

t.test('a stream that has begun, and a request that was answered, have no limit of time any more', async (t) => {
  const clock = new FakeClock()
  const { transport } = await setUp(
    t,
    ({ url }, response) => {
      if (url !== '/stream') return { body: {} }
      response.writeHead(200).write('first')
      return undefined
    },
    { clock },
  )
  await transport.request(get)
  t.equal(clock.pending, 0)
  const abort = new AbortController()
  const stream = await transport.stream({ method: 'GET', path: '/stream', signal: abort.signal })
  t.equal(clock.pending, 0)
  await t.rejects(async () => {
    for await (const chunk of stream) {
      t.equal(String(chunk), 'first')
      abort.abort(new Error('enough'))
    }
  }, new Error('enough'))
})

t.test('an abort leaves the connections of others as they are', async (t) => {
  let silent = false
  const { server, transport } = await setUp(t, () => (silent ? undefined : { body: {} }))
  await Promise.all([transport.request(get), transport.request(get)])
  t.equal(server.sockets, 2)
  silent = true
  const abort = new AbortController()
  const aborted = t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'))
  await eventually(() => server.requests.length === 3)
  abort.abort(new Error('enough'))
  await aborted
  silent = false
  await transport.request(get)
  t.equal(server.sockets, 2)
})

t.test('warnings that nobody wants to hear of are passed over', async (t) => {
  const { transport } = await setUp(t, () => ({ headers: { warning: '299 - "careful"' }, body: { a: 1 } }))
  t.strictSame((await transport.request(get)).body, { a: 1 })
})

t.test('tells how long an attempt took', async (t) => {
  const reports: RequestReport[] = []
  const { transport } = await setUp(t, () => ({ body: {} }), { onRequest: (report) => reports.push(report) })
  const began = performance.now()
  await transport.request(get)
  const [{ seconds }] = reports as [RequestReport]
  t.ok(seconds > 0 && seconds <= (performance.now() - began) / 1000, `${seconds} s`)
})

t.test('a read that is reset twice is given up', async (t) => {
  const reports: RequestReport[] = []
  const { server, transport } = await setUp(t, (_request, response) => void response.destroy(), {
    onRequest: (report) => reports.push(report),
  })
  t.match(await failureOf(transport.request(get)), { code: 'PRO_API_UNREACHABLE', message: /was lost/ })
  t.equal(server.requests.length, 2)
  t.match(await failureOf(transport.request({ ...get, method: 'DELETE' })), { message: /was lost/ })
  t.equal(server.requests.length, 3)
  t.strictSame(
    reports.map(({ code }) => code),
    ['error', 'error', 'error'],
  )
})

t.test('after that makes new connections: those that are kept may be as dead', async (t) => {
  let silent = false
  const { server, transport } = await setUp(t, () => (silent ? undefined : { body: {} }), { timeoutMs: 200 })
  await Promise.all([transport.request(get), transport.request(get)])
  t.equal(server.sockets, 2)
  silent = true
  await t.rejects(transport.request(get), { code: 'PRO_API_UNREACHABLE' })
  silent = false
  await transport.request(get)
  t.equal(server.sockets, 3)
})

t.test('while it still connects, a request ends when its time is up or it is aborted, and closing takes a second', async (t) => {
  const sockets = new Set<Socket>()
  const mute = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    mute.close()
  })
  // The handshake is never answered.
  const connection = { server: `https://127.0.0.1:${(mute.address() as AddressInfo).port}`, describe: 'a test' }
  const clock = new FakeClock()
  const transport = createTransport(connection, { clock, timeoutMs: 3000 })
  const late = failureOf(transport.request(get))
  await clock.untilPending()
  await clock.advance(3000)
  t.match(await late, { code: 'PRO_API_UNREACHABLE', message: /did not answer in time/ })

  const stop = new AbortController()
  const aborted = transport.stream({ ...get, signal: stop.signal })
  await clock.untilPending()
  stop.abort(new Error('enough'))
  await t.rejects(aborted, { message: 'enough' })

  const running = failureOf(transport.request(get))
  await clock.untilPending()
  const closed = transport.close()
  await clock.untilPending(2)
  await clock.advance(1000)
  await closed
  t.match(await running, { code: 'PRO_ABORTED' })
  // A connection attempt that is left alone ends by itself, after ten seconds.
  await until('the connections are gone', () => [...sockets].every((socket) => socket.readableEnded), 5000)
})

t.test('rejects with the reason of the abort', async (t) => {
  const { server, transport } = await setUp(t, () => undefined)
  const abort = new AbortController()
  const answer = t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'))
  await eventually(() => server.requests.length === 1)
  abort.abort(new Error('enough'))
  await answer
  await t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'), 'also before it began')
})

t.test('rejects with the reason of the abort, whatever that is', async (t) => {
  const { server, transport } = await setUp(t, () => undefined)
  for (const reason of [null, 'enough', 0]) {
    const before = server.requests.length
    const abort = new AbortController()
    const answer = transport.request({ ...get, signal: abort.signal }).then(
      () => 'an answer',
      (thrown: unknown) => ({ thrown }),
    )
    await eventually(() => server.requests.length > before)
    abort.abort(reason)
    t.strictSame(await answer, { thrown: reason })
  }
})

t.test('leaves nothing on a signal that outlives its requests', async (t) => {
  const { server, transport } = await setUp(t, ({ url }, response) => {
    if (url === '/gone') return { status: 404, body: 'gone' }
    if (url !== '/reset') return { body: {} }
    response.destroy()
    return undefined
  })
  const { signal } = new AbortController()
  await transport.request({ ...get, signal })
  await failureOf(transport.request({ ...get, path: '/gone', signal }))
  await failureOf(transport.request({ ...post, path: '/reset', signal }))
  t.equal(server.requests.length, 3)
  t.strictSame(getEventListeners(signal, 'abort'), [])

  for await (const chunk of await transport.stream({ ...get, signal })) t.equal(chunk.toString(), '{}')
  await failureOf(transport.stream({ ...get, path: '/gone', signal }))
  await eventually(() => getEventListeners(signal, 'abort').length === 0)
})

t.test('says in one sentence why a server cannot be reached', async (t) => {
  const ca = testCertificate('ca')
  const other = testCertificate('other')
  const tls = { ...testCertificate('server', ca), ca: ca.cert }
  const secure = await startTestServer(() => ({ body: {} }), tls)
  const expired = await startTestServer(() => ({ body: {} }), { ...testCertificate('server', ca, -1), ca: ca.cert })
  const plain = await startTestServer(() => ({ body: {} }))
  t.teardown(() => Promise.all([secure.close(), plain.close(), expired.close()]).then(() => undefined))
  const cases: [string, Partial<Connection> & { server: string }, RegExp][] = [
    [
      'nothing listens',
      { server: `http://127.0.0.1:${await freePort()}` },
      /^Nothing answers at http:\/\/127\.0\.0\.1:\d+ \(connection refused\): start that API server, or name another one than kubeconfig k, context c\.$/,
    ],
    ['an unknown host', { server: 'https://nowhere.invalid' }, /^The host name nowhere\.invalid of the API server cannot be resolved/],
    [
      'an unknown authority',
      { server: secure.url, ca: other.cert },
      /^The certificate of https:.* is not signed by an authority that kubeconfig k, context c trusts/,
    ],
    ['an expired certificate', { server: expired.url, ca: ca.cert }, /^The certificate of https:.* is expired/],
    [
      'another name',
      { server: secure.url.replace('127.0.0.1', 'localhost'), ca: ca.cert },
      /^The certificate of https:\/\/localhost.* is for other names/,
    ],
    ['no TLS', { server: plain.url.replace('http:', 'https:') }, /^https:.* does not speak TLS/],
  ]
  for (const [name, connection, message] of cases) {
    t.test(name, async (t) => {
      const transport = createTransport({ describe: 'kubeconfig k, context c', ...connection }, { userAgent: 'test' })
      t.teardown(() => transport.close())
      const error = await failureOf(transport.request(get))
      t.equal(error.code, 'PRO_API_UNREACHABLE')
      t.match(error.message, message)
      t.notMatch(error.message, /\n/)
    })
  }
  t.test('no address', async (t) => {
    for (const server of ['localhost:8080', 'ftp://localhost', '']) {
      t.throws(() => createTransport({ server, describe: 'k' }), {
        code: 'PRO_KUBECONFIG',
        message: `"${server}" in k is no address of an API server: it must be https://host:port or http://host:port.`,
      })
    }
  })
  t.test('verification switched off', async (t) => {
    const transport = createTransport({ server: secure.url, insecureSkipTlsVerify: true, describe: 'k' }, { userAgent: 'test' })
    t.teardown(() => transport.close())
    t.strictSame((await transport.request(get)).body, {})
  })
})

t.test('streams', async (t) => {
  const open: { closed: boolean }[] = []
  const { server, transport } = await setUp(t, (_request, response) => {
    const state = { closed: false }
    open.push(state)
    response.on('close', () => (state.closed = true))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('first')
    return undefined
  })

  t.test('to a reader that goes away, and then closes the connection', async (t) => {
    for await (const chunk of await transport.stream(get)) {
      t.equal(chunk.toString(), 'first')
      break
    }
    await eventually(() => open[0]?.closed === true)
  })
  t.test('until the signal aborts', async (t) => {
    const abort = new AbortController()
    const stream = await transport.stream({ ...get, signal: abort.signal })
    await t.rejects(async () => {
      for await (const _ of stream) abort.abort(new Error('enough'))
    }, new Error('enough'))
    await eventually(() => open[1]?.closed === true)
  })
  t.test('until the server is gone', async (t) => {
    const stream = await transport.stream(get)
    const error = await failureOf(
      (async () => {
        for await (const _ of stream) void server.close()
      })(),
    )
    t.equal(error.code, 'PRO_API_UNREACHABLE')
  })
})

t.test('a stream that breaks before anybody reads it fails when it is read', async (t) => {
  let socket: Socket | undefined
  const { transport } = await setUp(t, (_request, response) => {
    socket = response.socket ?? undefined
    response.writeHead(200).write('first')
    return undefined
  })
  const { signal } = new AbortController()
  const stream = await transport.stream({ ...get, signal })
  socket!.destroy()
  // Then its end has come here, too.
  await eventually(() => getEventListeners(signal, 'abort').length === 0)
  const error = await failureOf(
    (async () => {
      for await (const chunk of stream) t.equal(String(chunk), 'first')
    })(),
  )
  t.equal(error.code, 'PRO_API_UNREACHABLE')
})

t.test('close keeps the process until it is done, attempts do not', async (t) => {
  const kept: boolean[] = []
  const clock = new FakeClock()
  const recording: Clock = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    after: (ms, callback, keepAlive = false) => {
      kept.push(keepAlive)
      return clock.after(ms, callback)
    },
  }
  const { transport } = await setUp(t, () => ({ body: {} }), { clock: recording })
  await transport.request(get)
  await transport.close()
  t.strictSame(kept, [false, true])
})

t.test('a reader that takes its time slows the server down', async (t) => {
  let written = 0
  const { transport } = await setUp(t, (_request, response) => {
    response.writeHead(200)
    const pump = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536
      response.once('drain', pump)
    }
    pump()
    return undefined
  })
  for await (const chunk of await transport.stream(get)) {
    t.ok(chunk.length > 0)
    // What fits into the socket buffers is sent; then the server stands still, which without back-pressure it never would.
    let stillFor = 0
    let last = written
    await eventually(() => {
      stillFor = written === last ? stillFor + 1 : 0
      last = written
      return stillFor === 300
    })
    t.ok(written < 256 * 1024 * 1024)
    break
  }
})

t.test('close cuts streams off and refuses what comes later', async (t) => {
  const { transport } = await setUp(t, (_request, response) => {
    response.writeHead(200).write('first')
    return undefined
  })
  const stream = await transport.stream(get)
  const error = await failureOf(
    (async () => {
      for await (const _ of stream) await transport.close()
    })(),
  )
  t.equal(error.code, 'PRO_ABORTED')
  t.match(await failureOf(transport.request(get)), {
    code: 'PRO_ABORTED',
    message: /^The client of http:.* is closed and takes no more requests\.$/,
  })
})

t.test('close lets a request end, and cuts off one that does not within a second', async (t) => {
  const clock = new FakeClock()
  const arrived = Promise.withResolvers<ServerResponse>()
  const { transport } = await setUp(t, (_request, response) => void arrived.resolve(response), { clock })
  const answered = transport.request(get)
  const response = await arrived.promise
  const closed = transport.close()
  await clock.advance(999)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  t.strictSame((await answered).body, {})
  await closed

  const second = await setUp(t, () => undefined, { clock })
  const hung = failureOf(second.transport.request(get))
  await eventually(() => second.server.requests.length === 1)
  const cut = second.transport.close()
  t.equal(second.transport.close(), cut)
  await clock.advance(999)
  t.equal(clock.pending, 2, 'the request, and the time that it has left')
  await clock.advance(1)
  await cut
  t.equal(clock.pending, 0)
  t.match(await hung, { code: 'PRO_ABORTED', message: /was closed while this request ran/ })
})

t.test('close ends a request that waits for its next try', async (t) => {
  const clock = new FakeClock()
  const busy = { status: 429, headers: { 'retry-after': '30' }, body: failure(429, 'TooManyRequests', 'too busy') }
  const { transport } = await setUp(t, () => busy, { clock })
  const started = clock.now()
  const abort = new AbortController()
  const waiting = [failureOf(transport.request(get)), failureOf(transport.request({ ...post, signal: abort.signal }))]
  await eventually(() => clock.pending === 2 && clock.nextDue === started + 30_000)
  await transport.close()
  for (const failed of await Promise.all(waiting))
    t.match(failed, { code: 'PRO_ABORTED', message: /was closed while this request waited for its next try/ })
  t.equal(clock.pending, 0)
})

t.test('close cuts off what runs on connections of an earlier client certificate as well', async (t) => {
  const ca = testCertificate('ca')
  const server = await startTestServer(
    ({ url }, response) => {
      if (url !== '/stream') return { body: {} }
      response.writeHead(200).write('first')
      return undefined
    },
    { ...testCertificate('server', ca), ca: ca.cert },
  )
  let current = testCertificate('first', ca)
  const transport = createTransport({ ...server.connection, tls: async () => current }, { userAgent: 'test' })
  t.teardown(async () => (await transport.close(), await server.close()))
  const stream = await transport.stream({ method: 'GET', path: '/stream' })
  current = testCertificate('second', ca)
  await transport.request(get)
  t.strictSame(
    server.requests.map(({ clientName }) => clientName),
    ['first', 'second'],
  )
  const cut = failureOf(
    (async () => {
      for await (const chunk of stream) t.equal(String(chunk), 'first')
    })(),
  )
  await transport.close()
  t.match(await cut, { code: 'PRO_ABORTED', message: `The client of ${server.url} was closed while this request ran.` })
})

t.test('watches do not take the connections that requests need', async (t) => {
  const { transport } = await setUp(t, ({ url }, response) => {
    if (url === '/request') return { body: {} }
    response.writeHead(200).write('x')
    return undefined
  })
  const abort = new AbortController()
  await Promise.all(Array.from({ length: 120 }, () => transport.stream({ method: 'GET', path: '/watch', signal: abort.signal })))
  t.strictSame((await transport.request({ method: 'GET', path: '/request' })).body, {})
  abort.abort()
})

t.test('an answer that claims to be JSON and is not', async (t) => {
  const { transport } = await setUp(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    return undefined
  })
  t.match(await failureOf(transport.request(get)), { code: 'PRO_API', message: /GET \/api\/v1\/pods is not valid JSON/ })
})
