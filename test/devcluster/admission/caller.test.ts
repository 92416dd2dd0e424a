import { createServer } from 'node:https'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { KeyPair } from '../../../src/certs/issue.ts'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'
import type { WebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { createWebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { mappedServices } from '../../../src/devcluster/admission/service-resolver.ts'
import type { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'
import { trustShapes } from '../../support/certs/trust-shapes.ts'

const now = Date.now()
const authority = await issueAuthority(now)
const caBundle = Buffer.from(authority.cert).toString('base64')
const leaf = await issueLeaf(authority, { names: ['hooks.system.svc'], ips: ['127.0.0.1'], now })

async function serve(
  t: Test,
  listener: RequestListener,
  certificate: KeyPair = leaf,
): Promise<{ url: string; port: number; connections: () => number }> {
  let connections = 0
  const server = createServer({ ...certificate }, listener)
  server.on('secureConnection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `https://127.0.0.1:${port}`, port, connections: () => connections }
}

function callerFor(t: Test, services: Record<string, string> = {}): WebhookCaller {
  const caller = createWebhookCaller({ services: mappedServices(() => services), clock: systemClock })
  t.teardown(() => caller.close())
  return caller
}

const options = { timeoutSeconds: 10, signal: new AbortController().signal }
const echo: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({
      method: request.method ?? '',
      url: request.url ?? '',
      host: request.headers.host ?? '',
      type: request.headers['content-type'] ?? '',
      version: request.httpVersion,
    }),
  )
}

t.test('the caller posts reviews over one HTTP/1.1 connection, with the timeout in the query', async (t) => {
  const server = await serve(t, echo)
  const caller = callerFor(t)
  const config = { url: `${server.url}/validate`, caBundle }
  const expected = {
    method: 'POST',
    url: '/validate?timeout=10s',
    host: `127.0.0.1:${server.port}`,
    type: 'application/json',
    version: '1.1',
  }
  t.strictSame(await caller.call(config, {}, options), expected)
  // The connection becomes idle in the iteration of the event loop that follows the end of the response. If the test did not wait for that
  // iteration, the next call would open a second connection.
  await setImmediate()
  t.strictSame(await caller.call(config, {}, options), expected)
  t.equal(server.connections(), 1)
})

t.test('the caller trusts every certificate in a caBundle, as Go does', async (t) => {
  const { served, trusted, untrusted } = trustShapes()
  const server = await serve(t, echo, served)
  const caller = callerFor(t, { 'system/hooks': server.url })
  const call = (bundle: string): Promise<unknown> =>
    caller.call(
      { service: { namespace: 'system', name: 'hooks', path: '/convert' }, caBundle: Buffer.from(bundle).toString('base64') },
      {},
      options,
    )
  for (const [name, bundle] of trusted) t.match(await call(bundle), { url: '/convert?timeout=10s' }, name)
  for (const [name, bundle] of untrusted) await t.rejects(call(bundle), /x509: certificate signed by unknown authority/, name)
})

t.test('the connections of the 200 last used addresses and caBundles are kept', async (t) => {
  const server = await serve(t, echo)
  const services: Record<string, string> = { 'system/hooks': server.url }
  const caller = callerFor(t, services)
  const call = async (): Promise<number> => {
    await caller.call({ service: { namespace: 'system', name: 'hooks' }, caBundle }, {}, options)
    await setImmediate()
    return server.connections()
  }
  let others = 0
  const callOthers = async (count: number): Promise<void> => {
    for (let call = 0; call < count; call += 1) {
      const name = `other-${(others += 1)}`
      services[`system/${name}`] = 'https://127.0.0.1:1'
      await caller.call({ service: { namespace: 'system', name }, caBundle }, {}, options).catch(() => undefined)
    }
  }
  t.equal(await call(), 1)
  await callOthers(199)
  t.equal(await call(), 1)
  await callOthers(199)
  t.equal(await call(), 1, 'a call renews its place')
  await callOthers(200)
  t.equal(await call(), 2)
})

t.test('a service reference is called and its certificate verified by the name of the Service', async (t) => {
  const server = await serve(t, echo)
  const caller = callerFor(t, { 'system/hooks': server.url, 'system/other': server.url })
  const call = (name: string, more: object = {}): Promise<unknown> =>
    caller.call({ service: { namespace: 'system', name, path: '/mutate', ...more }, caBundle }, {}, options)
  t.match(await call('hooks'), { url: '/mutate?timeout=10s', host: 'hooks.system.svc:443' })
  t.match(await call('hooks', { port: 9443 }), { host: 'hooks.system.svc:9443' })
  const problem = 'tls: failed to verify certificate: x509: certificate is valid for hooks.system.svc, not other.system.svc'
  await t.rejects(call('other'), { message: `failed to call webhook: Post "https://other.system.svc:443/mutate?timeout=10s": ${problem}` })
  await t.rejects(call('none'), {
    message: 'failed to call webhook: Post "https://none.system.svc:443/mutate?timeout=10s": no endpoints available for service "none"',
  })
})

t.test('the caller trusts the caBundle only', async (t) => {
  const server = await serve(t, echo)
  const caller = callerFor(t)
  const unknown = {
    message: `failed to call webhook: Post "${server.url}/x?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  }
  const other = Buffer.from((await issueAuthority(now)).cert).toString('base64')
  await t.rejects(caller.call({ url: `${server.url}/x`, caBundle: other }, {}, options), unknown)
  await t.rejects(caller.call({ url: `${server.url}/x` }, {}, options), unknown)
  await t.rejects(caller.call({ url: `${server.url}/x`, caBundle: '' }, {}, options), unknown)
  await caller.call({ url: `${server.url}/x`, caBundle }, {}, options)
})

t.test('a refused certificate is reported with its cause', async (t) => {
  const caller = callerFor(t)
  const problemOf = async (certificate: KeyPair): Promise<string> => {
    const server = await serve(t, echo, certificate)
    const error = await caller.call({ url: server.url, caBundle }, {}, options).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    return error?.message.split('x509: ')[1] ?? ''
  }
  const noAddress = await issueLeaf(authority, { names: ['localhost'], ips: [], now })
  t.equal(await problemOf(noAddress), "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs")
  const otherAddress = await issueLeaf(authority, { names: [], ips: ['10.0.0.1'], now })
  t.equal(await problemOf(otherAddress), 'certificate is valid for 10.0.0.1, not 127.0.0.1')
})

t.test('a response without a success code is a failed call', async (t) => {
  const answers: Record<string, [number, string, string]> = {
    '/404': [404, '', 'the server could not find the requested resource'],
    '/500': [500, 'boom', 'an error on the server ("boom") has prevented the request from succeeding'],
    '/400': [400, '{"kind":"Status","message":"no AdmissionReview"}', 'no AdmissionReview'],
    '/302': [302, '', 'the server responded with the status code 302 but did not return more information'],
    '/text': [
      200,
      'hello',
      'couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ],
  }
  const server = await serve(t, (request, response) => {
    const [code, text] = answers[request.url!.split('?')[0]!]!
    response.writeHead(code).end(text)
  })
  const caller = callerFor(t)
  for (const [path, [, , expected]] of Object.entries(answers)) {
    await t.rejects(caller.call({ url: server.url + path, caBundle }, {}, options), { message: `failed to call webhook: ${expected}` })
  }
})

t.test('refused, closed and plain-text connections are failed calls with the messages of Go', async (t) => {
  const closing = await serve(t, (request) => request.socket.destroy())
  const caller = callerFor(t)
  const post = (url: string): string => `failed to call webhook: Post "${url}?timeout=10s": `
  await t.rejects(caller.call({ url: 'https://127.0.0.1:1/x', caBundle }, {}, options), {
    message: `${post('https://127.0.0.1:1/x')}dial tcp 127.0.0.1:1: connect: connection refused`,
  })
  await t.rejects(caller.call({ url: `${closing.url}/x`, caBundle }, {}, options), { message: `${post(`${closing.url}/x`)}EOF` })
})

t.test('the message of a failed call has the reason why nothing can be reached at the origin', async (t) => {
  const server = await serve(t, (request) => request.resume().socket.destroy())
  const unreachable = new Map([[server.url, 'it does not run']])
  const caller = createWebhookCaller({
    services: mappedServices(() => ({ 'a/b': server.url, 'a/c': 'c' })),
    unreachable,
    clock: systemClock,
  })
  t.teardown(() => caller.close())
  const post = (url: string): string => `failed to call webhook: Post "${url}?timeout=10s": `
  await t.rejects(caller.call({ url: `${server.url}/x`, caBundle }, {}, options), { message: `${post(`${server.url}/x`)}it does not run` })
  const service = { namespace: 'a', name: 'b' }
  await t.rejects(caller.call({ service, caBundle }, {}, options), { message: `${post('https://b.a.svc:443/')}it does not run` })
  await t.rejects(caller.call({ service: { namespace: 'a', name: 'c' } }, {}, options), { message: /Invalid URL$/ })
  unreachable.clear()
  await t.rejects(caller.call({ url: `${server.url}/x`, caBundle }, {}, options), { message: `${post(`${server.url}/x`)}EOF` })
  const working = await serve(t, echo)
  unreachable.set(working.url, 'it does not run')
  t.match(await caller.call({ url: `${working.url}/x`, caBundle }, {}, options), { method: 'POST' }, 'only a failed call has a reason')
})

t.test('a call that takes longer than its timeout is given up', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const server = await serve(t, () => arrived.resolve())
  const clock = new FakeClock()
  const caller = createWebhookCaller({ services: mappedServices(() => ({})), clock })
  t.teardown(() => caller.close())
  const call = caller.call({ url: `${server.url}/x`, caBundle }, {}, { ...options, timeoutSeconds: 3 })
  const outcome = t.rejects(call, { message: `failed to call webhook: Post "${server.url}/x?timeout=3s": context deadline exceeded` })
  await arrived.promise
  await clock.advance(3000)
  await outcome
})

t.test('a cancelled request cancels the call', async (t) => {
  const arrived = Promise.withResolvers<void>()
  const server = await serve(t, () => arrived.resolve())
  const abort = new AbortController()
  const call = callerFor(t).call({ url: `${server.url}/x`, caBundle }, {}, { timeoutSeconds: 10, signal: abort.signal })
  const outcome = t.rejects(call, { message: `failed to call webhook: Post "${server.url}/x?timeout=10s": context canceled` })
  await arrived.promise
  abort.abort()
  await outcome
})

t.test('a request whose deadline has passed fails with a timeout that does not mention webhooks', async (t) => {
  const caller = callerFor(t)
  const timedOut = { name: 'StatusError', message: 'Timeout: request did not complete within the allotted timeout' }
  await t.rejects(
    caller.call({ url: 'https://127.0.0.1:1', caBundle }, {}, { ...options, deadline: systemClock.monotonicNow() - 1 }),
    timedOut,
  )
})

/** Starts a server that records each request as `METHOD PATH BODY`, and responds with the response for the path. */
async function answering(t: Test, answers: Record<string, [code: number, headers: Record<string, string>, text?: string]>) {
  const asked: string[] = []
  const headers: (string | undefined)[][] = []
  const server = await serve(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url!.split('?')[0]!
      asked.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
      headers.push([request.headers.host, request.headers['user-agent'], request.headers.accept, request.headers['content-type']])
      const [code, more, text = '{}'] = answers[path] ?? [404, {}]
      response.writeHead(code, more).end(text)
    })
  })
  return { ...server, asked, headers }
}

t.test('redirects are followed as by Go, at most ten', async (t) => {
  const answers: Record<string, [number, Record<string, string>, string?]> = { '/end': [200, {}, '{"end":true}'] }
  for (const code of [301, 302, 303, 307, 308]) answers[`/${code}`] = [code, { location: '/end?x=y' }]
  answers['/nowhere'] = [307, {}, '{}']
  answers['/loop'] = [307, { location: '/loop' }]
  answers['/get-loop'] = [302, { location: '/get-loop' }]
  const server = await answering(t, answers)
  const caller = callerFor(t, { 'system/hooks': server.url })
  const call = (path: string) => caller.call({ service: { namespace: 'system', name: 'hooks', path }, caBundle }, { a: 1 }, options)
  for (const code of [301, 302, 303]) {
    t.strictSame(await call(`/${code}`), { end: true })
    t.strictSame(server.asked.splice(0), [`POST /${code}?timeout=10s {"a":1}`, 'GET /end?x=y '])
  }
  for (const code of [307, 308]) {
    t.strictSame(await call(`/${code}`), { end: true })
    t.strictSame(server.asked.splice(0), [`POST /${code}?timeout=10s {"a":1}`, 'POST /end?x=y {"a":1}'])
  }
  const host = 'hooks.system.svc:443'
  const [agent, accept] = ['kube-apiserver-admission', 'application/json, */*']
  t.strictSame(server.headers.slice(0, 2), [
    [host, agent, accept, 'application/json'],
    [host, agent, accept, undefined],
  ])
  await t.rejects(call('/nowhere'), {
    message: 'failed to call webhook: the server responded with the status code 307 but did not return more information',
  })
  server.asked.length = 0
  await t.rejects(call('/loop'), { message: 'failed to call webhook: Post "/loop": stopped after 10 redirects' })
  t.equal(server.asked.splice(0).length, 10)
  await t.rejects(call('/get-loop'), { message: 'failed to call webhook: Get "/get-loop": stopped after 10 redirects' })
  t.equal(server.asked.length, 10)
})

t.test('a redirect to another host connects to that host', async (t) => {
  const target = await answering(t, { '/end': [200, {}, '{"end":true}'] })
  const server = await answering(t, {
    '/away': [307, { location: `${target.url}/end` }],
    '/refused': [302, { location: 'https://127.0.0.1:1/x' }],
  })
  const caller = callerFor(t, { 'system/hooks': server.url })
  const call = (path: string) => caller.call({ service: { namespace: 'system', name: 'hooks', path }, caBundle }, {}, options)
  t.strictSame(await call('/away'), { end: true })
  t.equal(target.headers[0]?.[0], `127.0.0.1:${target.port}`)
  await t.rejects(call('/refused'), {
    message: 'failed to call webhook: Get "https://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused',
  })
})

t.test('a response with Retry-After is retried up to ten times', async (t) => {
  const server = await answering(t, {
    '/busy': [429, { 'retry-after': '2' }],
    '/down': [500, { 'retry-after': '5' }],
    '/almost': [499, { 'retry-after': '1' }],
    '/soon': [500, { 'retry-after': 'soon' }, 'boom'],
    '/now': [404, { 'retry-after': '1' }],
  })
  const clock = new FakeClock()
  const caller = createWebhookCaller({ services: mappedServices(() => ({})), clock })
  t.teardown(() => caller.close())
  const call = (path: string, timeoutSeconds = 30) => caller.call({ url: server.url + path, caBundle }, {}, { ...options, timeoutSeconds })
  const busy = t.rejects(call('/busy'), { message: /^failed to call webhook: the server has received too many requests/ })
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await until('it waits', () => server.asked.length === attempt && clock.pending === 2)
    await clock.advance(1_999)
    t.equal(clock.pending, 2)
    await clock.advance(1)
  }
  await busy
  t.equal(server.asked.splice(0).length, 11)
  t.equal(clock.pending, 0)
  const down = t.rejects(call('/down', 1), {
    message: `failed to call webhook: Post "${server.url}/down?timeout=1s": context deadline exceeded`,
  })
  await until('it waits', () => clock.pending === 2)
  await clock.advance(1_000)
  await down
  server.asked.length = 0
  await t.rejects(call('/soon'), { message: /an error on the server \("boom"\)/ })
  await t.rejects(call('/now'), { message: /could not find/ })
  await t.rejects(call('/almost'), { message: /responded with the status code 499/ })
  t.equal(server.asked.length, 3)
})

t.test('a call is limited by its timeout and the deadline of the request', async (t) => {
  const server = await answering(t, { '/': [200, {}] })
  const clock = new FakeClock()
  const caller = createWebhookCaller({ services: mappedServices(() => ({})), clock })
  t.teardown(() => caller.close())
  const asked = async (timeoutSeconds: number, left?: number): Promise<string> => {
    const deadline = left === undefined ? {} : { deadline: clock.monotonicNow() + left }
    await caller.call({ url: `${server.url}/`, caBundle }, {}, { ...options, timeoutSeconds, ...deadline })
    return server.asked.at(-1)!
  }
  t.equal(await asked(7), 'POST /?timeout=7s {}')
  t.equal(await asked(7, 8_000), 'POST /?timeout=7s {}')
  t.equal(await asked(7, 2_500), 'POST /?timeout=3s {}')
  clock.set(clock.now() + 60_000)
  t.equal(await asked(7, 2_500), 'POST /?timeout=3s {}', 'although the time of day has been set')
  t.equal(clock.pending, 0, 'no timer is pending')
  const timedOut = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Timeout: request did not complete within the allotted timeout',
    reason: 'Timeout',
    details: {},
    code: 504,
  }
  const refusalOf = async (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => (error as StatusError).status)
  t.strictSame(await refusalOf(asked(7, 0)), timedOut)
  const arrived = Promise.withResolvers<void>()
  const silent = await serve(t, () => arrived.resolve())
  const late = refusalOf(caller.call({ url: `${silent.url}/`, caBundle }, {}, { ...options, deadline: clock.monotonicNow() + 2_000 }))
  await arrived.promise
  await clock.advance(2_000)
  t.strictSame(await late, timedOut)
})

t.test('a truncated response body is a failed call', async (t) => {
  const server = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"a":', () => request.socket.destroy())
  })
  await t.rejects(callerFor(t).call({ url: `${server.url}/x`, caBundle }, {}, options), {
    message: 'failed to call webhook: unexpected error when reading response body. Please retry. Original error: unexpected EOF',
  })
})

t.test('an invalid URL is refused, and a Service is called with its path and port', async (t) => {
  const server = await serve(t, echo)
  const caller = callerFor(t, { 'system/hooks': `${server.url}/` })
  const call = (service: object) => caller.call({ service: { namespace: 'system', name: 'hooks', ...service }, caBundle }, {}, options)
  t.match(await call({}), { url: '/?timeout=10s', host: 'hooks.system.svc:443' })
  t.match(await call({ path: 'x' }), { url: '/x?timeout=10s' })
  await t.rejects(caller.call({ url: 'nonsense', caBundle }, {}, options), {
    message: 'could not get REST client: unable to parse "nonsense"',
  })
  await t.rejects(caller.call({}, {}, options), { message: 'could not get REST client: unable to parse ""' })
  await caller.close()
  const again = callerFor(t, { 'system/hooks': server.url })
  t.match(await again.call({ service: { namespace: 'system', name: 'hooks', path: '/y' }, caBundle }, {}, options), {
    url: '/y?timeout=10s',
  })
})
