/** Tests of `grpc` probes with real servers. The expected messages are those of the kubelet's prober. */
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:http2'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { Server } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { ContainerSpec } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import { grpcProbe } from '../../../../src/devcluster/pods/probes/grpc-probe.ts'
import type { ProbeContext } from '../../../../src/devcluster/pods/probes/probe-context.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { closedPort, listen, loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const contextOf = (changes: Partial<ProbeContext> = {}): ProbeContext => ({
  container: { name: 'main' } as ContainerSpec,
  target: loopbackTarget,
  clock: systemClock,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  ...changes,
})

interface Call {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server that calls `answer` when a request has arrived. */
function grpcServer(answer: (stream: ServerHttp2Stream, call: Call) => void): Http2Server {
  const server = createServer()
  server.on('session', (session) => session.on('error', () => undefined))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => answer(stream, { headers, body: Buffer.concat(chunks) }))
  })
  return server
}

const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc' }
const framed = (message: readonly number[]): Buffer => Buffer.from([0, 0, 0, 0, message.length, ...message])

/** Returns a handler that responds with a body and trailers. */
const answer =
  (body: Buffer, trailers: Readonly<Record<string, string>> = { 'grpc-status': '0' }) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond(grpcHeaders, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(body)
  }
/** Returns a handler that responds with headers only. */
const refuse =
  (status: string, message: string) =>
  (stream: ServerHttp2Stream): void =>
    stream.respond({ ...grpcHeaders, 'grpc-status': status, 'grpc-message': message }, { endStream: true })
const httpAnswer =
  (status: number) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': status, 'content-type': 'text/plain' })
    stream.end('no')
  }

t.test('a service that serves is a success', async (t) => {
  const calls: Call[] = []
  const server = grpcServer((stream, call) => {
    calls.push(call)
    answer(framed([8, 1]))(stream)
  })
  const listening = await listen(t, server)
  const { port } = listening
  t.strictSame(await grpcProbe({ port, service: 'database' }, contextOf()), { kind: 'success', output: 'service healthy' })
  t.strictSame(await grpcProbe({ port }, contextOf()), { kind: 'success', output: 'service healthy' })
  t.match(calls[0]?.headers, {
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    ':authority': `127.0.0.1:${port}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'kube-probe/1.36',
    'grpc-timeout': '60000m',
  })
  const message = Buffer.concat([Buffer.from([10, 8]), Buffer.from('database')])
  t.strictSame(
    calls.map(({ body }) => body),
    [framed([...message]), framed([])],
  )
  await eventually(() => listening.connections === 0)
})

t.test('a long timeout is sent in a larger unit, because it has at most eight digits', async (t) => {
  const sent: unknown[] = []
  const server = grpcServer((stream, { headers }) => {
    sent.push(headers['grpc-timeout'])
    answer(framed([8, 1]))(stream)
  })
  const { port } = await listen(t, server)
  for (const seconds of [99_999, 100_000, 2_147_483_647]) await grpcProbe({ port }, contextOf({ timeoutMs: seconds * 1000 }))
  t.strictSame(sent, ['99999000m', '100000S', '35791395M'])
})

const rpcError = 'error: health rpc probe failed: rpc error: code ='
const unimplemented = 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health):'
const failures: readonly (readonly [name: string, answer: (stream: ServerHttp2Stream) => void, output: string])[] = [
  ['a service that does not serve', answer(framed([8, 2])), 'service unhealthy (responded with "NOT_SERVING")'],
  ['an empty message', answer(framed([])), 'service unhealthy (responded with "UNKNOWN")'],
  ['a state without a name', answer(framed([8, 77])), 'service unhealthy (responded with "77")'],
  ['an unknown field before the state', answer(framed([18, 1, 65, 8, 3])), 'service unhealthy (responded with "SERVICE_UNKNOWN")'],
  ['an unknown service', refuse('5', 'unknown%20service%C3%A4%zz'), `${rpcError} NotFound desc = unknown serviceä%zz`],
  ['a missing health service', refuse('12', 'unknown service'), `${unimplemented} unknown service`],
  ['a server that gives up in time', refuse('4', 'x'), 'timeout: health rpc did not complete within 1m0s'],
  ['a code without a name', refuse('99', 'x'), `${rpcError} Code(99) desc = x`],
  [
    'a code that is no number',
    refuse('abc', 'x'),
    `${rpcError} Unknown desc = transport: malformed grpc-status: strconv.ParseInt: parsing "abc": invalid syntax`,
  ],
  [
    'an error after the message',
    answer(framed([8, 1]), { 'grpc-status': '13', 'grpc-message': 'boom' }),
    `${rpcError} Internal desc = boom`,
  ],
  [
    'a web server',
    httpAnswer(404),
    `${unimplemented} unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected content-type "text/plain"`,
  ],
  [
    'a proxy without a server',
    httpAnswer(503),
    `${rpcError} Unavailable desc = unexpected HTTP status code received from server: 503 (Service Unavailable); transport: received unexpected content-type "text/plain"`,
  ],
  [
    'a response without trailers',
    answer(framed([8, 1]), {}),
    `${rpcError} Internal desc = server closed the stream without sending trailers`,
  ],
  [
    'a response without a message',
    answer(Buffer.alloc(0)),
    `${rpcError} Internal desc = cardinality violation: received no response message from non-server-streaming RPC`,
  ],
  [
    'two messages',
    answer(Buffer.concat([framed([8, 1]), framed([8, 1])])),
    `${rpcError} Internal desc = cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message`,
  ],
  ['a message that breaks off', answer(Buffer.from([0, 0, 0, 0, 9, 8, 1])), `${rpcError} Internal desc = unexpected EOF`],
  [
    'a compressed message',
    answer(Buffer.from([1, 0, 0, 0, 2, 8, 1])),
    `${rpcError} Internal desc = grpc: compressed flag set with identity or empty encoding`,
  ],
  [
    'a message that is not protobuf',
    answer(framed([0xff])),
    `${rpcError} Internal desc = grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data`,
  ],
  [
    'a message of 2 GiB',
    (stream) => {
      stream.respond(grpcHeaders)
      stream.write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]))
    },
    `${rpcError} ResourceExhausted desc = grpc: received message larger than max (2147483647 vs. 4194304)`,
  ],
  [
    'a stream that the server cancels',
    (stream) => stream.close(8),
    `${rpcError} Canceled desc = stream terminated by RST_STREAM with error code: CANCEL`,
  ],
  [
    'a stream with an error of the server',
    (stream) => stream.close(2),
    `${rpcError} Internal desc = stream terminated by RST_STREAM with error code: INTERNAL_ERROR`,
  ],
  ['a connection that ends', (stream) => stream.session?.destroy(), `${rpcError} Unavailable desc = error reading from server: EOF`],
]

for (const [name, respond, output] of failures) {
  t.test(`${name} is a failure`, async (t) => {
    const listening = await listen(t, grpcServer(respond))
    t.strictSame(await grpcProbe({ port: listening.port }, contextOf()), { kind: 'failure', output })
    await eventually(() => listening.connections === 0)
  })
}

/**
 * Runs a gRPC probe with a timeout of one second. When `isWaiting` returns true, the function advances the clock by one second, and the
 * probe must fail. Resolves with the output of the probe, with `PORT` instead of the port number.
 */
async function timeOut(t: Test, port: number, isWaiting: (clock: FakeClock) => boolean): Promise<string> {
  const clock = new FakeClock()
  const running = grpcProbe({ port }, contextOf({ clock, timeoutMs: 1000 }))
  await eventually(() => isWaiting(clock))
  await clock.advance(1000)
  const { kind, output } = await running
  t.equal(kind, 'failure')
  t.equal(clock.pending, 0)
  return output.replace(String(port), 'PORT')
}

t.test('a call that is not answered in time is a failure', async (t) => {
  let called = false
  const listening = await listen(
    t,
    grpcServer(() => (called = true)),
  )
  t.equal(await timeOut(t, listening.port, () => called), 'timeout: health rpc did not complete within 1s')
  await eventually(() => listening.connections === 0)
})

t.test('a client tries to connect until the time is over', async (t) => {
  const failed = 'timeout: failed to connect service "127.0.0.1:PORT" within 1s: context deadline exceeded'
  // The first timer is the timeout of the probe. The second timer delays the next attempt to connect.
  const waitsForNextTry = (clock: FakeClock): boolean => clock.pending === 2
  t.equal(await timeOut(t, await closedPort(), waitsForNextTry), failed)
  const resetting = createTcpServer((socket) => void socket.once('data', () => socket.resetAndDestroy()))
  const closing = createTcpServer((socket) => void socket.once('data', () => socket.end()))
  for (const server of [createHttpServer(), resetting, closing]) {
    const listening = await listen(t, server)
    t.equal(await timeOut(t, listening.port, waitsForNextTry), failed)
    await eventually(() => listening.connections === 0)
  }
  let received = false
  const silent = await listen(
    t,
    createTcpServer((socket) => void socket.on('data', () => (received = true))),
  )
  t.equal(await timeOut(t, silent.port, () => received), failed)
  await eventually(() => silent.connections === 0)
})

t.test('a server that comes up in time is a success', async (t) => {
  const clock = new FakeClock()
  const port = await closedPort()
  const running = grpcProbe({ port }, contextOf({ clock, timeoutMs: 10_000 }))
  await eventually(() => clock.pending === 2)
  await listenOn(t, grpcServer(answer(framed([8, 1]))), port)
  await clock.advance(1000)
  t.strictSame(await running, { kind: 'success', output: 'service healthy' })
  t.equal(clock.pending, 0)
})

/** Makes the server listen on a port on which no process was listening before. */
async function listenOn(t: Test, server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
}

t.test('the end of the container ends the call', async (t) => {
  let called = false
  const listening = await listen(
    t,
    grpcServer(() => (called = true)),
  )
  const ended = new AbortController()
  const rejection = rejectionOf(grpcProbe({ port: listening.port }, contextOf({ signal: ended.signal })))
  await eventually(() => called)
  const reason = new Error('ended')
  ended.abort(reason)
  t.equal(await rejection, reason)
  await eventually(() => listening.connections === 0)
})
