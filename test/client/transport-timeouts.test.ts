/**
 * Tests of responses that stall or break off. In one test, two requests time out shortly one after the other. The second timeout must not
 * affect a connection that was opened after the first timeout.
 */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import type { RequestReport, Transport, TransportOptions } from '../../src/client/transport.ts'
import { createTransport } from '../../src/client/transport.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { Handler, TestServer } from '../support/client/server.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'

const get = { method: 'GET', path: '/api/v1/pods' }
const post = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: '{}' }

async function setUp(t: Test, handler: Handler, options: TransportOptions): Promise<{ server: TestServer; transport: Transport }> {
  const server = await startTestServer(handler)
  const transport = createTransport(server.connection, { userAgent: 'test', ...options })
  t.teardown(async () => {
    await transport.close()
    await server.close()
  })
  return { server, transport }
}

/**
 * Sends the headers and the beginning of a body. The client calls `onWarning` for the header `warning`. The test thereby knows that the
 * client has received the headers.
 */
function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100', warning: '299 - "begun"' }).write('{"a":')
}

t.test('the time limit of a request includes its body', async (t) => {
  const clock = new FakeClock()
  const begun = Promise.withResolvers<string>()
  const reports: RequestReport[] = []
  const { transport } = await setUp(t, (_request, response) => void begin(response), {
    clock,
    timeoutMs: 60_000,
    onWarning: begun.resolve,
    onRequest: (report) => reports.push(report),
  })
  const answer = transport.request(get).catch((error: unknown) => error)
  t.equal(await begun.promise, 'begun')
  t.equal(clock.pending, 1)
  await clock.advance(60_000)
  t.match(await answer, { code: 'PRO_API_UNREACHABLE', message: /did not answer in time/ })
  t.strictSame([reports.length, reports[0]?.code, clock.pending], [1, 'error', 0])
})

t.test('a response that breaks off counts as none, and a read is repeated', async (t) => {
  const reports: RequestReport[] = []
  let received: ServerResponse | undefined
  const { server, transport } = await setUp(
    t,
    (_request, response, index) => {
      if (index === 1) return { body: { b: 1 } }
      received = response
      begin(response)
      return undefined
    },
    { onWarning: () => void received!.destroy(), onRequest: (report) => reports.push(report) },
  )
  t.strictSame((await transport.request(get)).body, { b: 1 })
  await t.rejects(transport.request(post), { code: 'PRO_API_UNREACHABLE', message: /was lost/ })
  t.equal(server.requests.length, 3)
  t.strictSame(
    reports.map(({ method, code }) => [method, code]),
    [
      ['GET', 'error'],
      ['GET', 200],
      ['POST', 'error'],
    ],
  )
})

t.test('the connections that were opened after a timeout are kept when an earlier request times out, too', async (t) => {
  const clock = new FakeClock()
  const { server, transport } = await setUp(t, ({ url }) => (url === '/silent' ? undefined : { body: {} }), { clock, timeoutMs: 1000 })
  const silent = { method: 'GET', path: '/silent' }
  const failures = [transport.request(silent).catch((error: unknown) => error)]
  await eventually(() => server.requests.length === 1)
  await clock.advance(10)
  failures.push(transport.request(silent).catch((error: unknown) => error))
  await eventually(() => server.requests.length === 2)
  await clock.advance(990)
  t.match(await failures[0], { message: /did not answer in time/ })
  await transport.request(get)
  t.equal(server.sockets, 3, 'a new connection')
  await clock.advance(10)
  t.match(await failures[1], { message: /did not answer in time/ })
  await transport.request(get)
  t.equal(server.sockets, 3)
})
