import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { Clock } from '../../src/runtime/clock.ts'
import { ProreusError } from '../../src/api/errors.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import type { ApiError } from '../../src/client/api-error.ts'
import { isAlreadyExists, isNotFound, isTooManyRequests, isUnauthorized } from '../../src/client/api-error.ts'
import type { Connection } from '../../src/client/connection.ts'
import type { RequestReport, Transport, TransportOptions } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { testCertificate } from '../support/certs/client-certificates.ts'
import type { Handler, TestServer } from '../support/client/server.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/process/free-port.ts'

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

t.test('integers beyond 2^53 are exact', async (t) => {
  const headers = { 'content-type': 'application/json' }
  const { transport } = await setUp(t, () => ({ headers, body: '{"a":[9007199254740993,9007199254740992,-9223372036854775808,5]}' }))
  t.strictSame((await transport.request(get)).body, { a: [9007199254740993n, 9007199254740992n, -9223372036854775808n, 5] })
})

t.test('JSON answers are parsed, text answers are returned as text', async (t) => {
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

t.test('the user agent has the version', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(get)
  t.match(server.requests[0]?.headers['user-agent'], /^proreus\/\d+\.\d+\.\d+/)
})

t.test('a path prefix of the server is kept', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport({ ...server.connection, server: `${server.url}/k8s/clusters/one/` }, { userAgent: 'test' })
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(get)
  t.equal(server.requests[0]?.url, '/k8s/clusters/one/api/v1/pods')
})

t.test('TLS connections are reused for sequential requests, on HTTP/1.1', async (t) => {
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
  // The pool may open a second connection, because the client may send a request before the previous response has ended completely.
  const before = server.sockets
  t.ok(before <= 2, `${before} connections for 50 requests`)
  t.equal(server.requests[0]?.clientName, 'first')

  t.test('a new client certificate opens a new connection', async (t) => {
    current = client[1]
    await transport.request(get)
    await eventually(() => [...connections].every((socket) => socket.destroyed))
    t.equal(server.sockets, before + 1)
    t.equal(server.requests.at(-1)?.clientName, 'second')
  })
})

t.test('failed requests throw an ApiError', async (t) => {
  const conflict = failure(409, 'AlreadyExists', 'pods "x" already exists', {
    name: 'x',
    kind: 'pods',
    causes: [{ field: 'metadata.name' }],
  })
  const { transport } = await setUp(t, ({ url }) => {
    if (url === '/status') return { status: 409, body: conflict }
    if (url === '/missing') {
      return { status: 404, body: failure(404, 'NotFound', 'widgets.example.com "x" not found', { name: 'x', kind: 'widgets' }) }
    }
    if (url === '/text') return { status: 404, body: '404 page not found\n' }
    return { status: 502, headers: { 'content-type': 'text/html' }, body: '' }
  })

  t.test('with the fields of a Status', async (t) => {
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
  t.test('with a plain text', async (t) => {
    const error = await failureOf(transport.request({ method: 'GET', path: '/text' }))
    t.ok(isNotFound(error))
    t.equal(error.message, 'the API server answered GET /text with 404: 404 page not found')
  })
  t.test('with the type of a request that is answered with 404 and a text', async (t) => {
    const type = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
    const error = await failureOf(transport.request({ method: 'GET', path: '/text', type }))
    t.ok(isNotFound(error))
    t.equal(
      error.message,
      'the API server answered GET /text with 404: 404 page not found (widgets.example.com in version v1 is not served; its CustomResourceDefinition may be missing)',
    )
    const missing = await failureOf(transport.request({ method: 'GET', path: '/missing', type }))
    t.equal(missing.message, 'widgets.example.com "x" not found', 'the object is missing, not its type')
  })
  t.test('with a status code only', async (t) => {
    const error = await failureOf(transport.stream({ method: 'GET', path: '/empty' }))
    t.match(error, { statusCode: 502, reason: 'Unknown', message: 'the API server answered GET /empty with 502' })
  })
})

t.test('Retry-After', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '2' }, body: failure(429, 'TooManyRequests', 'too busy') }
  const down = { status: 503, headers: { 'retry-after': '1' }, body: 'apiserver is shutting down' }

  t.test('is awaited after a 429, for any method', async (t) => {
    const clock = new FakeClock()
    const jitter = [0, 0.5]
    const options = { clock, random: () => jitter.shift()! }
    const { server, transport } = await setUp(t, (_request, _response, index) => (index < 2 ? busy : { body: { done: true } }), options)
    const started = clock.now()
    const answer = transport.request(post)
    await eventually(() => server.requests.length === 1 && clock.nextDue === started + 2000)
    await clock.advance(2000)
    await eventually(() => server.requests.length === 2 && clock.nextDue === started + 4200)
    await clock.advance(2200)
    t.strictSame((await answer).body, { done: true })
    t.equal(server.requests.length, 3)
  })
  t.test('is awaited at most five times', async (t) => {
    const { server, transport } = await setUp(t, () => ({ ...busy, headers: { 'retry-after': '0' } }))
    const error = await failureOf(transport.request(get))
    t.ok(isTooManyRequests(error))
    t.equal((error as ApiError).retryAfterSeconds, 0)
    t.equal(server.requests.length, 6)
  })
  t.test('does not repeat a create after a 503', async (t) => {
    const { server, transport } = await setUp(t, ({ method }, _response, index) =>
      index === 0 || method === 'POST' ? { ...down, headers: { 'retry-after': '0' } } : { body: {} },
    )
    await transport.request({ ...get, method: 'PUT', body: '{}' })
    t.equal(server.requests.length, 2)
    await failureOf(transport.request(post))
    t.equal(server.requests.length, 3)
  })
  t.test('is not awaited if it is absent or minutes long', async (t) => {
    const { server, transport } = await setUp(t, (_request, _response, index) => ({
      ...busy,
      headers: index === 0 ? { 'retry-after': '600' } : {},
    }))
    t.match(await failureOf(transport.request(get)), { retryAfterSeconds: 600 })
    t.match(await failureOf(transport.request(get)), { statusCode: 429, retryAfterSeconds: undefined })
    t.equal(server.requests.length, 2)
  })
  t.test('is not awaited after an abort', async (t) => {
    const clock = new FakeClock()
    const { transport } = await setUp(t, () => busy, { clock, random: () => 0 })
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

t.test('refused credentials are renewed once', async (t) => {
  const refusals: (string | undefined)[] = []
  const { server, transport } = await setUp(
    t,
    ({ headers }) =>
      headers.authorization === 'Bearer new' ? { body: {} } : { status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') },
    {
      connection: {
        authorization: async (refused) => {
          refusals.push(refused)
          return refused === undefined ? 'Bearer old' : 'Bearer new'
        },
      },
    },
  )
  await transport.request(post)
  t.strictSame(refusals, [undefined, 'Bearer old'])
  t.equal(server.requests.length, 2)
})

t.test('a refused client certificate is renewed once', async (t) => {
  const ca = testCertificate('ca')
  const [old, renewed] = [testCertificate('old', ca), testCertificate('renewed', ca)]
  const server = await startTestServer(
    ({ clientName }) => (clientName === 'renewed' ? { body: {} } : { status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') }),
    { ...testCertificate('server', ca), ca: ca.cert },
  )
  const refusals: unknown[] = []
  const tls: Connection['tls'] = async (refused) => {
    refusals.push(refused?.cert)
    return refused === undefined ? old : renewed
  }
  const transport = createTransport({ ...server.connection, tls })
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(post)
  t.strictSame(
    server.requests.map(({ clientName }) => clientName),
    ['old', 'renewed'],
  )
  t.strictSame(refusals, [undefined, old.cert])
})

t.test('a new CA opens a new connection', async (t) => {
  const [before, after] = [testCertificate('ca'), testCertificate('ca')]
  const [oldServer, newServer] = await Promise.all(
    [before, after].map((ca) => startTestServer(() => ({ body: {} }), { ...testCertificate('server', ca), ca: ca.cert })),
  )
  let ca = before.cert
  const transport = createTransport({ ...newServer!.connection, ca: before.cert, tls: async () => ({ ca }) })
  t.teardown(async () => (await transport.close(), await oldServer!.close(), await newServer!.close()))
  t.match(await failureOf(transport.request(get)), { code: 'PRO_API_UNREACHABLE', message: /certificate/ })
  ca = after.cert
  t.strictSame((await transport.request(get)).body, {})
})

t.test('credentials that are never loaded', async (t) => {
  const never = (): Promise<never> => new Promise(() => undefined)

  t.test('do not outlast the time limit of a request', async (t) => {
    for (const connection of [{ authorization: never }, { tls: never }]) {
      const clock = new FakeClock()
      const reports: RequestReport[] = []
      const { server, transport } = await setUp(t, () => ({ body: {} }), { clock, connection, onRequest: (report) => reports.push(report) })
      const answer = failureOf(transport.request(get))
      await clock.advance(64_999)
      t.equal(clock.pending, 1)
      await clock.advance(1)
      t.match(await answer, {
        code: 'PRO_KUBECONFIG',
        message: 'The credentials of a test were not loaded within 65 s.',
        cause: { code: 'PRO_TIMEOUT' },
      })
      t.strictSame([server.requests.length, reports.length, clock.pending], [0, 0, 0])
    }
  })
  t.test('do not outlast the abort of a request', async (t) => {
    const abort = new AbortController()
    const { transport } = await setUp(t, () => ({ body: {} }), { connection: { authorization: never } })
    const answer = t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'))
    abort.abort(new Error('enough'))
    await answer
    t.equal(getEventListeners(abort.signal, 'abort').length, 0)
  })
  t.test('are not loaded for a closed transport', async (t) => {
    let loads = 0
    const { transport } = await setUp(t, () => ({ body: {} }), { connection: { authorization: async () => String(++loads) } })
    await transport.close()
    t.match(await failureOf(transport.request(get)), { code: 'PRO_ABORTED', message: /is closed and takes no more requests/ })
    t.equal(loads, 0)
  })
  t.test('do not outlast the transport', async (t) => {
    const clock = new FakeClock()
    const { server, transport } = await setUp(t, () => ({ body: {} }), { clock, connection: { tls: never } })
    const answer = failureOf(transport.request(get))
    await transport.close()
    t.match(await answer, { code: 'PRO_ABORTED', message: `The client of ${server.url} was closed while this request ran.` })
    t.equal(clock.pending, 0)
  })
})

t.test('the error names the refused credentials', async (t) => {
  const { server, transport } = await setUp(t, () => ({ status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') }), {
    connection: { authorization: async () => 'Bearer old' },
  })
  const error = await failureOf(transport.request(get))
  t.ok(isUnauthorized(error))
  t.equal(error.message, `Unauthorized (${server.url} does not accept the credentials of a test: renew them, or choose others)`)
  t.equal(server.requests.length, 1)
})

t.test('credentials are renewed at most once per request', async (t) => {
  let refusals = 0
  const { server, transport } = await setUp(t, () => ({ status: 401, body: failure(401, 'Unauthorized', 'Unauthorized') }), {
    connection: { authorization: async () => `Bearer ${refusals++}` },
  })
  t.ok(isUnauthorized(await failureOf(transport.request(get))))
  t.strictSame(
    server.requests.map(({ headers }) => headers.authorization),
    ['Bearer 0', 'Bearer 1'],
  )
  t.equal(refusals, 2)
})

t.test('only a 401 renews the credentials', async (t) => {
  const refusals: (string | undefined)[] = []
  const { transport } = await setUp(t, () => ({ status: 403, body: failure(403, 'Forbidden', 'no') }), {
    connection: { authorization: async (refused) => (refusals.push(refused), 'Bearer x') },
  })
  t.equal((await failureOf(transport.request(get))).message, 'no')
  t.strictSame(refusals, [undefined])
})

t.test('requests have their own content type and accept header, JSON by default', async (t) => {
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

t.test('an answer is parsed as JSON by its content type', async (t) => {
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
    const { statusCode, headers, body: actual } = await transport.request({ ...get, accept: type })
    t.strictSame([statusCode, headers['content-type'], actual], [201, type === 'none' ? undefined : type, body])
  }
})

t.test('only status codes from 200 to 299 are successes', async (t) => {
  const { transport } = await setUp(t, ({ url }) => ({ status: Number(url.slice(1)), body: 'x' }))
  for (const code of [200, 204, 299]) t.equal((await transport.request({ method: 'GET', path: `/${code}` })).statusCode, code)
  for (const code of [300, 302, 404, 500]) {
    t.match(await failureOf(transport.request({ method: 'GET', path: `/${code}` })), { statusCode: code })
    t.match(await failureOf(transport.stream({ method: 'GET', path: `/${code}` })), { statusCode: code })
  }
  for await (const chunk of await transport.stream({ method: 'GET', path: '/299' })) t.equal(String(chunk), 'x')
})

t.test('warnings and the outcome of requests are reported', async (t) => {
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
    reports.map(({ seconds: _, requestBytes: __, responseBytes: ___, ...report }) => report),
    [
      { method: 'GET', verb: 'list', host, code: 200 },
      { method: 'GET', verb: 'get', host, code: 404 },
      { method: 'GET', verb: 'watch', host, code: 200 },
      { method: 'POST', verb: 'post', host, code: 200 },
    ],
  )
  t.ok(reports.every(({ seconds }) => seconds >= 0 && seconds < 60))
})

t.test('a read is repeated once when a reused connection is closed', async (t) => {
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

t.test('a request without an answer times out', async (t) => {
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

t.test('an attempt times out after 65 s by default', async (t) => {
  const clock = new FakeClock()
  const { transport } = await setUp(t, () => undefined, { clock })
  const answer = failureOf(transport.request(get))
  await clock.untilPending()
  t.equal(clock.nextDue, clock.now() + 65_000)
  await clock.advance(65_000)
  t.match(await answer, { message: /did not answer in time/ })
  t.equal(clock.pending, 0)
})

t.test('an open stream and an answered request do not time out', async (t) => {
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

t.test('an abort keeps the connections of others', async (t) => {
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

t.test('warnings without a handler are ignored', async (t) => {
  const { transport } = await setUp(t, () => ({ headers: { warning: '299 - "careful"' }, body: { a: 1 } }))
  t.strictSame((await transport.request(get)).body, { a: 1 })
})

t.test('retries and the sizes of bodies are reported', async (t) => {
  const clock = new FakeClock()
  const reports: RequestReport[] = []
  const { transport } = await setUp(
    t,
    (request, response, index) => {
      if (request.method === 'GET') return (response.writeHead(200).end('text'), undefined)
      return index === 0 ? { status: 429, headers: { 'retry-after': '1' }, body: 'slow down' } : { body: 'größer' }
    },
    { clock, onRequest: (report) => reports.push(report) },
  )
  const answer = transport.request({ ...post, body: '{"a":"ü"}' })
  await eventually(() => reports.length === 1)
  await clock.untilPending()
  await clock.advance(2000)
  await answer
  for await (const _ of await transport.stream(get));
  t.strictSame(
    reports.map(({ isRetry, requestBytes, responseBytes }) => [isRetry, requestBytes, responseBytes]),
    [
      [undefined, 10, 9],
      [true, 10, 8],
      [undefined, undefined, undefined],
    ],
  )
})

t.test('the duration of an attempt is reported', async (t) => {
  const reports: RequestReport[] = []
  const { transport } = await setUp(t, () => ({ body: {} }), { onRequest: (report) => reports.push(report) })
  const began = performance.now()
  await transport.request(get)
  const [{ seconds }] = reports as [RequestReport]
  t.ok(seconds > 0 && seconds <= (performance.now() - began) / 1000, `${seconds} s`)
})

t.test('a read that is reset twice fails', async (t) => {
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

t.test('after a timeout new connections are opened', async (t) => {
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

t.test('while connecting, a request ends at its timeout or abort, and close takes a second', async (t) => {
  const sockets = new Set<Socket>()
  const mute = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    mute.close()
  })
  // The server accepts TCP connections but never answers the TLS handshake.
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
  // If the transport did not close an abandoned connection attempt, the connection would end only after ten seconds, and `until` would
  // fail.
  await until('the connections are gone', () => [...sockets].every((socket) => socket.readableEnded), 5000)
})

t.test('an aborted request rejects with the reason', async (t) => {
  const { server, transport } = await setUp(t, () => undefined)
  const abort = new AbortController()
  const answer = t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'))
  await eventually(() => server.requests.length === 1)
  abort.abort(new Error('enough'))
  await answer
  await t.rejects(transport.request({ ...get, signal: abort.signal }), new Error('enough'), 'also before it starts')
})

t.test('any abort reason is passed on', async (t) => {
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

t.test('requests leave no listeners on their signal', async (t) => {
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

t.test('an unreachable server is explained in one sentence', async (t) => {
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
      /^Nothing answers at http:\/\/127\.0\.0\.1:\d+ \(connection refused\): start that API server, or use another connection than kubeconfig k, context c\.$/,
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
  t.test('an invalid address', async (t) => {
    for (const server of ['localhost:8080', 'ftp://localhost', '']) {
      t.throws(() => createTransport({ server, describe: 'k' }), {
        code: 'PRO_KUBECONFIG',
        message: `"${server}" in k is not an address of an API server: it must be https://host:port or http://host:port.`,
      })
    }
  })
  t.test('verification switched off', async (t) => {
    const transport = createTransport({ server: secure.url, insecureSkipTlsVerify: true, describe: 'k' }, { userAgent: 'test' })
    t.teardown(() => transport.close())
    t.strictSame((await transport.request(get)).body, {})
  })
})

t.test('a stream', async (t) => {
  const open: { closed: boolean }[] = []
  const { server, transport } = await setUp(t, (_request, response) => {
    const state = { closed: false }
    open.push(state)
    response.on('close', () => (state.closed = true))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('first')
    return undefined
  })

  t.test('closes its connection when the reader stops', async (t) => {
    for await (const chunk of await transport.stream(get)) {
      t.equal(chunk.toString(), 'first')
      break
    }
    await eventually(() => open[0]?.closed === true)
  })
  t.test('ends when the signal aborts', async (t) => {
    const abort = new AbortController()
    const stream = await transport.stream({ ...get, signal: abort.signal })
    await t.rejects(async () => {
      for await (const _ of stream) abort.abort(new Error('enough'))
    }, new Error('enough'))
    await eventually(() => open[1]?.closed === true)
  })
  t.test('fails when the server is gone', async (t) => {
    const stream = await transport.stream(get)
    const error = await failureOf(
      (async () => {
        for await (const _ of stream) void server.close()
      })(),
    )
    t.equal(error.code, 'PRO_API_UNREACHABLE')
  })
})

t.test('a stream that breaks before it is read fails when it is read', async (t) => {
  let socket: Socket | undefined
  const { transport } = await setUp(t, (_request, response) => {
    socket = response.socket ?? undefined
    response.writeHead(200).write('first')
    return undefined
  })
  const { signal } = new AbortController()
  const stream = await transport.stream({ ...get, signal })
  socket!.destroy()
  // The client removes its abort listeners when it has received the end of the stream.
  await eventually(() => getEventListeners(signal, 'abort').length === 0)
  const error = await failureOf(
    (async () => {
      for await (const chunk of stream) t.equal(String(chunk), 'first')
    })(),
  )
  t.equal(error.code, 'PRO_API_UNREACHABLE')
})

t.test('a request and close keep the process running until they are done', async (t) => {
  const keepAlives: boolean[] = []
  const clock = new FakeClock()
  const recording: Clock = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow(),
    after: (ms, callback, keepAlive = false) => {
      keepAlives.push(keepAlive)
      return clock.after(ms, callback)
    },
  }
  const { transport } = await setUp(t, () => ({ body: {} }), { clock: recording })
  await transport.request(get)
  await transport.close()
  t.strictSame(keepAlives, [true, true])
})

t.test('a slow reader slows the server down', async (t) => {
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
    // Without back-pressure, the server would continue to write. With back-pressure, the server stops when the socket buffers are full. The
    // number of written bytes then stays the same for 300 iterations of the event loop.
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

t.test('close aborts streams and refuses later requests', async (t) => {
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

t.test('close waits a second for running requests, then aborts them', async (t) => {
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
  t.equal(clock.pending, 2, 'the timers of the request and of close')
  await clock.advance(1)
  await cut
  t.equal(clock.pending, 0)
  t.match(await hung, { code: 'PRO_ABORTED', message: /was closed while this request ran/ })
})

t.test('close ends a request that waits for its retry', async (t) => {
  const clock = new FakeClock()
  const busy = { status: 429, headers: { 'retry-after': '30' }, body: failure(429, 'TooManyRequests', 'too busy') }
  const { transport } = await setUp(t, () => busy, { clock, random: () => 0 })
  const started = clock.now()
  const abort = new AbortController()
  const waiting = [failureOf(transport.request(get)), failureOf(transport.request({ ...post, signal: abort.signal }))]
  await eventually(() => clock.pending === 2 && clock.nextDue === started + 30_000)
  await transport.close()
  for (const failed of await Promise.all(waiting))
    t.match(failed, { code: 'PRO_ABORTED', message: /was closed while this request waited for its next try/ })
  t.equal(clock.pending, 0)
})

t.test('close aborts requests on connections of an earlier client certificate', async (t) => {
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

t.test('watches do not use up the connections of requests', async (t) => {
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

t.test('invalid JSON in a JSON answer is an error', async (t) => {
  const { transport } = await setUp(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    return undefined
  })
  t.match(await failureOf(transport.request(get)), { code: 'PRO_API', message: /GET \/api\/v1\/pods is not valid JSON/ })
})
