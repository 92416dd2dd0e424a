/** Tests of the hooks postStart and preStop with real commands and servers. The expected messages are those of the kubelet. */
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import t from 'tap'
import type { ContainerSpec, RuntimeEvent } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { HookHandler, HookOptions } from '../../../../src/devcluster/pods/probes/run-hook.ts'
import { HookError, runHook } from '../../../../src/devcluster/pods/probes/run-hook.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { testCertificate } from '../../../support/certs/server-certificate.ts'
import { closedPort, listen, loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejectionOf } from '../../../support/rejection.ts'

/** Runs a hook. Resolves with a list of the error message and the Events. The error message is undefined if the hook succeeds. */
async function run(handler: HookHandler, changes: Partial<HookOptions> = {}): Promise<readonly [string | undefined, ...RuntimeEvent[]]> {
  const events: RuntimeEvent[] = []
  const options: HookOptions = {
    container: { name: 'main' } as ContainerSpec,
    pod: 'web_default(1234)',
    clock: systemClock,
    signal: new AbortController().signal,
    record: (event) => events.push(event),
    ...changes,
  }
  const error = await rejectionOf(runHook(handler, loopbackTarget, options))
  if (error !== undefined && !(error instanceof HookError)) throw new Error('not the error of a hook', { cause: error })
  return [error?.message, ...events]
}

const failed = 'for Container "main" in Pod "web_default(1234)" failed - error:'

t.test('a command succeeds with exit code 0, and its output is part of the error', async (t) => {
  t.strictSame(await run({ exec: { command: ['true'] } }), [undefined])
  const command = ['sh', '-c', 'echo out; echo "err\n" >&2; exit 3']
  t.strictSame(await run({ exec: { command } }), [
    `Exec lifecycle hook ([${command.join(' ')}]) ${failed} command '${command.join(' ')}' exited with 3: err\n\n, message: "out\\nerr\\n\\n"`,
  ])
  t.strictSame(await run({ exec: { command: ['no-such-program', 'x'] } }), [
    `Exec lifecycle hook ([no-such-program x]) ${failed} exec: "no-such-program": executable file not found in $PATH, message: ""`,
  ])
})

t.test('references to variables are not expanded', async (t) => {
  const container = { name: 'main', env: [{ name: 'CODE', value: '0' }] } as ContainerSpec
  t.strictSame(await run({ exec: { command: ['sh', '-c', 'test "$1" = "\\$(CODE)"', 'sh', '$(CODE)'] } }, { container }), [undefined])
})

t.test('a command that is aborted is killed', async (t) => {
  const stop = new AbortController()
  const running = run({ exec: { command: ['sleep', '1000'] } }, { signal: stop.signal })
  stop.abort()
  t.strictSame(await running, [`Exec lifecycle hook ([sleep 1000]) ${failed} context canceled, message: ""`])
})

t.test('any response to a request is a success', async (t) => {
  const paths: (string | undefined)[] = []
  const listening = await listen(
    t,
    createServer(({ url, headers }, response) => {
      paths.push(url, headers['user-agent'])
      response.statusCode = 500
      response.write('a body without an end')
    }),
  )
  t.strictSame(await run({ httpGet: { port: listening.port, path: '/stop' } }), [undefined])
  t.strictSame(paths, ['/stop', 'kube-lifecycle/1.36'])
  await eventually(() => listening.connections === 0)
})

t.test('a server that answers HTTPS in HTTP gets the request again, without credentials', async (t) => {
  const received: (string | undefined)[] = []
  const { port } = await listen(
    t,
    createServer(({ headers }, response) => {
      received.push(headers.authorization, headers['x-a'] as string)
      response.end()
    }),
  )
  const httpHeaders = [
    { name: 'authorization', value: 'secret' },
    { name: 'X-A', value: 'a' },
  ]
  const message = `request to HTTPS lifecycle hook 127.0.0.1:${port} got HTTP response, retry with HTTP succeeded`
  t.strictSame(await run({ httpGet: { port, scheme: 'HTTPS', httpHeaders } }), [
    undefined,
    { type: 'Warning', reason: 'LifecycleHTTPFallback', message },
  ])
  t.strictSame(received, [undefined, 'a'])
})

t.test('a server that answers HTTPS in HTTP and then not at all fails with the first error', async (t) => {
  let connections = 0
  const { port } = await listen(
    t,
    createTcpServer((socket) => {
      connections += 1
      socket.once('data', () => (connections === 1 ? socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') : socket.resetAndDestroy()))
    }),
  )
  t.strictSame(await run({ httpGet: { port, path: '/', scheme: 'HTTPS' } }), [
    `HTTP lifecycle hook (/) ${failed} Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
  ])
  t.equal(connections, 2)
})

t.test('HTTPS trusts every certificate', async (t) => {
  const { cert, key } = testCertificate()
  const { port } = await listen(
    t,
    createSecureServer({ cert, key }, (_request, response) => response.end()),
  )
  t.strictSame(await run({ httpGet: { port, scheme: 'HTTPS' } }), [undefined])
})

t.test('a request without a response is an error', async (t) => {
  const port = await closedPort()
  const refused = `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`
  t.strictSame(await run({ httpGet: { port, path: '/' } }), [`HTTP lifecycle hook (/) ${failed} ${refused}`])
  t.strictSame(await run({ httpGet: { port: 'web', path: '/' } }), [
    `HTTP lifecycle hook (/) ${failed} strconv.Atoi: parsing "web": invalid syntax`,
  ])
})

t.test('a request that is aborted ends', async (t) => {
  const received = Promise.withResolvers<void>()
  const listening = await listen(
    t,
    createServer(() => received.resolve()),
  )
  const stop = new AbortController()
  const running = run({ httpGet: { port: listening.port, path: '/' } }, { signal: stop.signal })
  await received.promise
  stop.abort('the container has ended')
  t.strictSame(await running, [`HTTP lifecycle hook (/) ${failed} context canceled`])
  await eventually(() => listening.connections === 0)
})

t.test('a hook may sleep', async (t) => {
  const clock = new FakeClock()
  const running = run({ sleep: { seconds: 5 } }, { clock })
  await clock.advance(4999)
  t.equal(clock.pending, 1)
  await clock.advance(1)
  t.strictSame(await running, [undefined])

  const stop = new AbortController()
  const stopped = run({ sleep: { seconds: 5 } }, { clock, signal: stop.signal })
  await clock.advance(1)
  stop.abort()
  t.strictSame(await stopped, [`Sleep lifecycle hook (5) ${failed} container terminated before sleep hook finished`])
  t.equal(clock.pending, 0)
})

t.test('a TCP socket is not a hook', async (t) => {
  const message = (socket: string): string =>
    `Cannot run handler: invalid handler: &LifecycleHandler{Exec:nil,HTTPGet:nil,TCPSocket:${socket},Sleep:nil,}`
  t.strictSame(await run({ tcpSocket: { port: 80 } }), [message('&TCPSocketAction{Port:{0 80 },Host:,}')])
  t.strictSame(await run({ tcpSocket: { port: 'web', host: 'h' } }), [message('&TCPSocketAction{Port:{1 0 web},Host:h,}')])
  t.strictSame(await run({}), [message('nil')])
})
