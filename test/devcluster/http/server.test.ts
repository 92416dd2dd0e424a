/** Tests of the HTTPS server: TLS, credentials, limits, errors and shutdown. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { connect } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import { Agent, request } from 'undici'
import { ProreusError } from '../../../src/api/errors.ts'
import { failure } from '../../../src/api/status.ts'
import type { RequestRecord } from '../../../src/devcluster/http/handle.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { admin, bob, foo, startTestServer } from '../../support/devcluster/http-server.ts'

const foos = '/apis/a.example.com/v1/namespaces/default/foos'

t.test('version and health endpoints need no authorization', async (t) => {
  const { send } = await startTestServer(t)
  t.match(await send('/version', { token: null }), { code: 200, json: { major: '1', minor: '36', gitVersion: 'v1.36.3+proreus' } })
  t.strictSame((await send('/version/')).json, {
    major: '1',
    minor: '36',
    gitVersion: 'v1.36.3+proreus',
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node ${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${{ x64: 'amd64' }[process.arch as 'x64'] ?? process.arch}`,
  })
  for (const path of ['/healthz', '/livez', '/readyz']) t.match(await send(path, { token: null }), { code: 200, text: 'ok' }, path)
  t.match(await send('/readyz/ping'), { code: 200, text: 'ok' })
  t.match(await send('/readyz?verbose', { token: null }), { code: 200, text: '[+]ping ok\nreadyz check passed\n' })
  t.match(await send('/livez?verbose=0'), { text: '[+]ping ok\nlivez check passed\n' })
  t.match(await send('/readyz/other'), { code: 404, text: '404 page not found\n' })
  t.match(await send('/readyz/ping/more'), { code: 404 })
})

t.test('an unknown token is refused, and a request without one is anonymous', async (t) => {
  const { send } = await startTestServer(t)
  const unauthorized = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Unauthorized',
    reason: 'Unauthorized',
    code: 401,
  }
  for (const path of ['/api', '/apis', foos, '/openapi/v3', '/']) {
    t.match(await send(path, { token: null }), { code: 403, json: { message: /User "system:anonymous" cannot/ } }, path)
    for (const token of ['wrong', `${admin}x`]) {
      const { code, json } = await send(path, { token })
      t.equal(code, 401, path)
      t.strictSame(json, unauthorized)
    }
  }
})

t.test('a forbidden request gets 403 with the message of kube-apiserver', async (t) => {
  const { send } = await startTestServer(t, {
    grants: [{ user: 'bob', namespace: 'default', rules: [{ apiGroups: ['a.example.com'], resources: ['foos'], verbs: ['list'] }] }],
  })
  t.match(await send(foos, { token: bob }), { code: 200 })
  t.match(await send('/api/v1/namespaces/default/pods', { token: bob }), {
    code: 403,
    json: {
      message: 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
      details: { kind: 'pods' },
    },
  })
  t.match(await send('/apis', { token: bob }), { code: 200 })
})

t.test('only members of system:masters may impersonate without a rule', async (t) => {
  const { send } = await startTestServer(t)
  const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const asEve = { 'impersonate-user': 'eve', 'impersonate-group': 'devs', 'impersonate-uid': '7', 'impersonate-extra-scopes': 'a' }
  t.match(await send('/api/v1/pods', { headers: asEve }), { code: 403, json: { message: /User "eve" cannot list/ } })
  const answered = await send(review, { method: 'POST', body: JSON.stringify(whoAmI), headers: asEve })
  t.equal(answered.code, 201)
  // If the percent-encoding in the key of an extra field is invalid, the key is used without decoding.
  t.match(await send(review, { method: 'POST', body: JSON.stringify(whoAmI), headers: { ...asEve, 'impersonate-extra-%zz': 'a' } }), {
    code: 201,
  })
  t.match(await send('/api/v1/pods', { token: bob, headers: { 'impersonate-user': 'admin' } }), {
    code: 403,
    json: {
      message: 'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    },
  })
  t.match(await send('/api/v1/pods', { headers: { 'impersonate-group': 'devs' } }), {
    code: 400,
    json: { message: /^requested &user.DefaultInfo{.*Groups:\[\]string{"devs"}.*} without impersonating a user name$/ },
  })
})

t.test('a missing object, type and path have different 404 responses', async (t) => {
  const { send } = await startTestServer(t)
  t.match(await send(`${foos}/x`), {
    code: 404,
    json: { reason: 'NotFound', message: 'foos.a.example.com "x" not found', details: { name: 'x', group: 'a.example.com', kind: 'foos' } },
  })
  t.match(await send('/apis/a.example.com/v1/bars'), {
    code: 404,
    json: { reason: 'NotFound', message: 'the server could not find the requested resource', details: {} },
  })
  for (const path of ['/api/v2/pods', '/api/v2', '/apis/apps/v2', '/apis/apps/v1/nothings'])
    t.match(await send(path), { code: 404, json: { message: 'the server could not find the requested resource' } }, path)
  for (const path of ['/apis/b.example.com/v1/bars', '/apis/b.example.com', '/apis/a.example.com/v7', '/nothing', '/openapi']) {
    t.match(await send(path), { code: 404, text: '404 page not found\n', headers: { 'content-type': /^text\/plain/ } }, path)
  }
  t.match(await send(`${foos}/x/nothing`), { code: 404, json: { message: 'foos.a.example.com "x" not found' } })
  t.match(await send('/openapi/v3/apis/b.example.com/v1'), { code: 404, text: '' })
  t.ok(((await send('/')).json.paths as string[]).includes('/apis/a.example.com/v1'))
})

const notThere = 'the server could not find the requested resource'
const notAllowed = 'the server does not allow this method on the requested resource'
const missing = 'foos.a.example.com "x" not found'

t.test('a method that a path does not support is refused with 405 or 404', async (t) => {
  const { send } = await startTestServer(t)
  const all = '/apis/a.example.com/v1/foos'
  for (const [method, path, code, message] of [
    ['OPTIONS', foos, 405, notAllowed],
    ['POST', all, 405, notAllowed],
    ['DELETE', all, 404, undefined],
    ['PUT', all, 405, notAllowed],
    ['PATCH', all, 405, notAllowed],
    ['DELETE', '/api/v1/pods', 405, notAllowed],
    ['GET', all, 200, undefined],
    ['GET', `${all}?fieldSelector=metadata.name%3Dx`, 200, undefined],
    ['POST', `${foos}/x`, 405, notAllowed],
    ['PUT', foos, 405, notAllowed],
    ['PATCH', foos, 405, notAllowed],
    ['GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews', 405, notAllowed],
    ['POST', '/version', 405, notAllowed],
    ['POST', '/api', 405, notAllowed],
    ['POST', '/api/v1', 405, notAllowed],
    ['POST', '/apis/apps/v1', 405, notAllowed],
    ['POST', '/apis', 200, undefined],
    ['POST', '/apis/a.example.com/v1', 200, undefined],
    ['GET', `${all}/x`, 404, notThere],
    ['DELETE', `${all}/x`, 404, notThere],
    ['GET', '/api/v1/namespaces/default', 404, 'namespaces "default" not found'],
    ['GET', '/api/v1/namespaces/default/namespaces', 404, notThere],
    ['GET', '/api/v1/namespaces/default/namespaces/other', 404, notThere],
    ['GET', `${foos}/x`, 404, missing],
    ['GET', `${foos}/x/other`, 404, missing],
    ['GET', `${foos}/x/toString`, 404, missing],
    ['GET', '/api/v1/namespaces/default/pods/x/other', 404, notThere],
    ['GET', `${foos}/x/status/more`, 404, notThere],
    ['GET', `${foos}/x/status`, 404, missing],
    ['DELETE', `${foos}/x/status`, 405, notAllowed],
    ['POST', `${foos}/x/status`, 405, notAllowed],
    ['GET', `${foos}/%zz`, 400, `the path "${foos}/%zz" is not properly percent-encoded`],
  ] as const) {
    const answer = await send(path, { method, ...(method === 'GET' ? {} : { body: '{}' }) })
    t.equal(answer.code, code, `${method} ${path}`)
    if (message !== undefined) t.equal(answer.json.message, message, `${method} ${path}`)
  }
  t.equal((await send(foos, { method: 'HEAD' })).code, 405)
})

t.test('an unexpected error is logged and answered with 500, and the server continues', async (t) => {
  const { logger, entries } = recordingLogger()
  const { send } = await startTestServer(t, {
    logger,
    registry: {
      get: () => {
        throw new TypeError('boom')
      },
    },
  })
  t.match(await send(`${foos}/x?a=b`), { code: 500, json: { reason: 'InternalError', message: 'Internal error occurred: boom' } })
  t.equal((await send(foos)).code, 200)
  t.equal((await send('/api/v1/nothings')).code, 404)
  t.match(entries, [{ level: 'error', msg: 'a request failed', method: 'GET', path: `${foos}/x`, err: { message: 'boom' } }])
  t.equal(entries.length, 1, 'errors of the client are not logged')
})

t.test('an error after the client disconnected is not logged', async (t) => {
  const { logger, entries } = recordingLogger()
  const [asked, failed] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()]
  const { server, agent } = await startTestServer(t, {
    logger,
    onRequest: () => failed.resolve(),
    registry: {
      create: (_info, _namespace, _decoded, { signal }) => {
        asked.resolve(signal)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')), { once: true }))
      },
    },
  })
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${admin}` }
  const asking = request(`${server.url}${foos}`, {
    dispatcher: agent,
    method: 'POST',
    headers,
    body: '{"kind":"Foo"}',
    signal: leaving.signal,
  })
  const signal = await asked.promise
  t.equal(signal.aborted, false)
  leaving.abort()
  await t.rejects(asking)
  await failed.promise
  t.strictSame(entries, [])
})

t.test('the server accepts TLS 1.2 on loopback and keeps connections alive', async (t) => {
  const { server, send, ca } = await startTestServer(t)
  t.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/)
  t.equal(server.url, `https://127.0.0.1:${server.port}`)
  const { headers } = await send('/version')
  t.equal(headers['keep-alive'], 'timeout=120', 'longer than the 90 s of Go’s clients')
  const socket = connect({ port: server.port, host: '127.0.0.1', ca, maxVersion: 'TLSv1.2' })
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  t.equal(socket.getProtocol(), 'TLSv1.2')
  socket.destroy()
})

t.test('query parameters with malformed percent-encoding are ignored', async (t) => {
  const seen: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      list: (_info, options) => {
        seen.push(options)
        return { items: [], metadata: { resourceVersion: '1' } }
      },
    },
  })
  for (const query of ['?labelSelector=%zz&limit=2', '?limit=2&%', '?limit=2&a=%2', '?labelSelector=a%3Db?c', '?']) await send(foos + query)
  t.strictSame(seen, [
    { namespace: 'default', limit: 2 },
    { namespace: 'default', limit: 2 },
    { namespace: 'default', limit: 2 },
    { namespace: 'default', labelSelector: 'a=b?c' },
    { namespace: 'default' },
  ])
})

t.test('retryAfterSeconds becomes a Retry-After header', async (t) => {
  const { send } = await startTestServer(t, {
    registry: {
      list: () => {
        throw new StatusError(failure(504, 'Timeout', 'later', { retryAfterSeconds: 1 }))
      },
    },
  })
  t.match(await send(foos), { code: 504, headers: { 'retry-after': '1' } })
})

t.test('a body of more than 3 MiB is refused, with and without Content-Length', async (t) => {
  const { send, server, agent } = await startTestServer(t)
  const body = Buffer.alloc(3 * 1024 * 1024 + 1, ' ')
  t.match(await send(foos, { method: 'POST', body }), {
    code: 413,
    json: { reason: 'RequestEntityTooLarge' },
    headers: { connection: 'close' },
  })
  const chunked = await request(`${server.url}${foos}`, {
    dispatcher: agent,
    method: 'POST',
    headers: { authorization: `Bearer ${admin}` },
    body: Readable.from(Array.from({ length: 49 }, (_, index) => body.subarray(index * 65_536, (index + 1) * 65_536))),
  })
  t.equal(chunked.statusCode, 413)
  await chunked.body.dump()
})

t.test('a large response is compressed when the client accepts gzip', async (t) => {
  const items = Array.from({ length: 2000 }, (_, index) => foo(`foo-${index}`, { text: 'x'.repeat(100) }))
  const { send, server, agent } = await startTestServer(t, { registry: { list: () => ({ items, metadata: { resourceVersion: '1' } }) } })
  const headers = { authorization: `Bearer ${admin}`, 'accept-encoding': 'gzip' }
  const response = await request(`${server.url}${foos}`, { dispatcher: agent, headers })
  t.equal(response.headers['content-encoding'], 'gzip')
  t.equal(response.headers.vary, 'Accept-Encoding')
  const plain = gunzipSync(Buffer.from(await response.body.arrayBuffer())).toString()
  t.equal((JSON.parse(plain) as { items: unknown[] }).items.length, 2000)
  t.equal((await send(foos)).text, plain)
  t.match(await send(foos), { headers: { 'content-encoding': undefined } })
})

t.test('long lists arrive complete, also when clients read slowly, at the same time, or leave', async (t) => {
  const items = Array.from({ length: 2000 }, (_, index) => deepFreeze(foo(`foo-${index}`, { text: 'ä€😀'.repeat(100) })))
  const { server, agent } = await startTestServer(t, { registry: { list: () => ({ items, metadata: { resourceVersion: '1' } }) } })
  const get = (accepted: string): ReturnType<typeof request> =>
    request(`${server.url}${foos}`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}`, 'accept-encoding': accepted } })
  const leaving = await get('identity')
  leaving.body.on('error', () => undefined).destroy()
  const texts = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const { body, headers } = await get(index % 3 === 0 ? 'gzip' : 'identity')
      const chunks: Buffer[] = []
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        await new Promise(setImmediate)
      }
      const bytes = Buffer.concat(chunks)
      return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
    }),
  )
  for (const text of texts) t.ok(text === texts[0], 'all lists are the same')
  t.strictSame((JSON.parse(texts[0]!) as { items: unknown[] }).items, items)
})

t.test('malformed or oversized HTTP closes its own connection only', async (t) => {
  const { send, server, ca } = await startTestServer(t)
  const answerTo = async (text: string): Promise<string> => {
    const socket = connect({ port: server.port, host: '127.0.0.1', ca })
    socket.end(text)
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    return answer
  }
  t.match(await answerTo('NONSENSE\r\n\r\n'), /^HTTP\/1.1 400 /)
  t.match(await answerTo(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(65_540)}\r\n\r\n`), /^HTTP\/1.1 431 /)
  t.match(await answerTo(`GET //..%2f..;/?%zz=% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), /^HTTP\/1.1 403 /)
  t.match(await answerTo(`GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), /^HTTP\/1.1 40/)
  t.equal((await send('/readyz')).code, 200)
})

t.test('TLS 1.1 is refused', async (t) => {
  const { server, ca } = await startTestServer(t)
  const socket = connect({
    port: server.port,
    host: '127.0.0.1',
    ca,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  })
  const error = await new Promise<Error>((resolve, reject) =>
    socket.once('error', resolve).once('secureConnect', () => reject(new Error('connected'))),
  )
  t.match(error.message, /protocol|alert|version/i)
})

t.test('each request is reported once, with user, verb and code', async (t) => {
  const records: RequestRecord[] = []
  const { send } = await startTestServer(t, { onRequest: (record) => records.push(record) })
  const start = Date.now()
  await send(`${foos}?limit=1`)
  await send(`${foos}/x`, { token: bob, method: 'DELETE' })
  await send('/api', { token: null })
  await send('/version?a?b=c', { headers: { 'impersonate-user': 'eve' } })
  await send('/version', { token: 'wrong', method: 'POST' })
  await send('/api/v1/namespaces/default/pods?watch=1')
  await send('/version', { method: 'OPTIONS' })
  t.ok(records.every(({ at }) => at >= start && at <= Date.now()))
  t.strictSame(
    records.map(({ at: _at, ...record }) => record),
    [
      { verb: 'list', user: 'admin', path: foos, query: 'limit=1', code: 200 },
      { verb: 'delete', user: 'bob', path: `${foos}/x`, query: '', code: 403 },
      { verb: 'get', user: 'system:anonymous', path: '/api', query: '', code: 403 },
      { verb: 'get', user: 'eve', path: '/version', query: 'a?b=c', code: 200 },
      { verb: 'post', user: '', path: '/version', query: '', code: 401 },
      { verb: 'watch', user: 'admin', path: '/api/v1/namespaces/default/pods', query: 'watch=1', code: 200 },
      { verb: 'options', user: '', path: '/version', query: '', code: 405 },
    ],
  )
})

t.test('a port in use is named in the error', async (t) => {
  const { server } = await startTestServer(t)
  await t.rejects(
    startTestServer(t, { port: server.port }),
    new ProreusError(
      'PRO_PORT_IN_USE',
      `The address 127.0.0.1:${server.port} is in use by another process: stop that one, or choose another address.`,
    ),
  )
})

t.test('the record of a request contains the beginning of a long path or query', async (t) => {
  const records: RequestRecord[] = []
  const { send } = await startTestServer(t, { onRequest: (record) => records.push(record) })
  const text = 'x'.repeat(2047)
  await send(`/${text}y`, { token: null })
  await send(`/version?a${text}`, { token: null })
  await send(`/version?a${text}b`, { token: null })
  t.strictSame(
    records.map(({ path, query }) => [path, query]),
    [
      [`/${text}`, ''],
      ['/version', `a${text}`],
      ['/version', `a${text}`],
    ],
  )
})

t.test('a failed accept does not end the process', async (t) => {
  let server: EventEmitter | undefined
  const onRequest = (message: unknown): void => void (server = (message as { server: EventEmitter }).server)
  subscribe('http.server.request.start', onRequest)
  t.teardown(() => unsubscribe('http.server.request.start', onRequest))
  const { logger, entries } = recordingLogger()
  const { send } = await startTestServer(t, { logger })
  await send('/version')
  server?.emit('error', new Error('accept EMFILE'))
  t.match(entries.at(-1), { level: 'warn', msg: 'the API server could not accept a connection' })
})

t.test('a connection accepts the next request while a long response is sent', async (t) => {
  const listeners: number[] = []
  const onFinish = (message: unknown): void => void listeners.push((message as { socket: EventEmitter }).socket.listenerCount('data'))
  subscribe('http.server.response.finish', onFinish)
  t.teardown(() => unsubscribe('http.server.response.finish', onFinish))
  const item = { apiVersion: 'a.example.com/v1', kind: 'Foo', metadata: { name: 'a', annotations: { long: 'x'.repeat(20_000) } } }
  const { send } = await startTestServer(t, { registry: { list: () => ({ items: [item], metadata: { resourceVersion: '1' } }) } })
  await send('/version')
  await send(foos)
  t.equal(listeners.length, 2)
  t.equal(listeners[1], listeners[0]! + 1)
})

t.test('close ends open connections and watches immediately', async (t) => {
  const { send, server, ca } = await startTestServer(t, {
    // The clock stands still, so no timeout closes a connection. `close` must end all connections itself.
    clock: new FakeClock(),
    registry: {
      async *watch(_info, _options, signal) {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      },
    },
  })
  const agent = new Agent({ connect: { ca } })
  await send('/api')
  const watches = await Promise.all(
    [1, 2, 3].map(() => request(`${server.url}${foos}?watch=true`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}` } })),
  )
  const ends = watches.map(async ({ body }) => body.text())
  await server.close()
  t.strictSame(await Promise.all(ends), ['', '', ''])
  await t.rejects(send('/version'))
  await server.close()
  await agent.destroy()
})

t.test('close waits half a second for running requests, and answers those that end meanwhile', async (t) => {
  const clock = new FakeClock()
  const asked: string[] = []
  const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { send, server } = await startTestServer(t, {
    clock,
    registry: {
      async create(_info, _namespace, { object }, { signal }) {
        const { name } = object.metadata as { name: string }
        asked.push(name)
        if (name === 'failing') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
        await (name === 'quick' ? first.promise : last.promise)
        return object
      },
    },
  })
  const create = (name: string) => send(foos, { method: 'POST', body: JSON.stringify(foo(name)) })
  const [quick, failing, slow] = [create('quick'), create('failing'), t.rejects(create('slow'))]
  await until('all are running', () => asked.length === 3)
  let closed = false
  const closing = server.close().then(() => (closed = true))
  t.equal(clock.nextDue! - clock.now(), 500)
  first.resolve()
  t.equal((await quick).code, 201)
  t.match(await failing, { code: 500, json: { message: 'Internal error occurred: ended' } })
  await clock.advance(499)
  t.equal(closed, false)
  await clock.advance(1)
  await closing
  await slow
  t.equal(clock.pending, 0)
  last.resolve()
})

t.test('close ends the stream of a watch whose next event does not come', async (t) => {
  const clock = new FakeClock()
  const last = Promise.withResolvers<void>()
  const { server, agent } = await startTestServer(t, {
    clock,
    registry: {
      async *watch() {
        yield { type: 'ADDED', object: foo('a') }
        await last.promise
      },
    },
  })
  const headers = { authorization: `Bearer ${admin}` }
  const { body } = await request(`${server.url}${foos}?watch=true`, { dispatcher: agent, headers })
  const closing = server.close()
  t.equal((await body.text()).split('\n').length, 2)
  last.resolve()
  await clock.advance(500)
  await closing
})

t.test('the server limits the time for a request and for an idle connection', async (t) => {
  let server: Record<string, unknown> | undefined
  const onRequest = (message: unknown): void => void (server = (message as { server: Record<string, unknown> }).server)
  subscribe('http.server.request.start', onRequest)
  t.teardown(() => unsubscribe('http.server.request.start', onRequest))
  const { send } = await startTestServer(t)
  await send('/version')
  const { headersTimeout, requestTimeout, keepAliveTimeout } = server!
  t.strictSame(
    { headersTimeout, requestTimeout, keepAliveTimeout },
    { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 120_000 },
  )
})

t.test('a body of 3 MiB and headers of less than 64 KiB are accepted', async (t) => {
  const { send } = await startTestServer(t)
  const object = JSON.stringify(foo('a'))
  t.equal((await send(foos, { method: 'POST', body: object.padEnd(3 * 1024 * 1024) })).code, 201)
  t.equal((await send('/version', { headers: { 'x-big': 'x'.repeat(60_000) } })).code, 200)
})
