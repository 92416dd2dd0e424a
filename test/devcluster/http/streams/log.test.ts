/** Tests of `pods/NAME/log` with containers: the options, the choice of the container, and the stream. */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { get } from 'node:https'
import t from 'tap'
import { internalError } from '../../../../src/devcluster/apimachinery/status-error.ts'
import { logOptions } from '../../../../src/devcluster/http/streams/log-options.ts'
import { until } from '../../../../src/testing/until.ts'
import { recordingLogger } from '../../../support/recording-logger.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { admin } from '../../../support/devcluster/http-server.ts'
import { startStreamServer } from '../../../support/devcluster/stream-server.ts'

const log = (name: string, query = ''): string => `/api/v1/namespaces/default/pods/${name}/log?${query}`
const at = Date.UTC(2026, 0, 1)

t.test('the query parameters of a log are decoded', (t) => {
  const options = (query: string) => logOptions(new URLSearchParams(query), 'p', at)
  const plain = { follow: false, previous: false, timestamps: false }
  t.strictSame(options(''), plain)
  t.strictSame(options('follow=true&previous=1&timestamps=yes&insecureSkipTLSVerifyBackend=true'), {
    follow: true,
    previous: true,
    timestamps: true,
  })
  t.strictSame(options('follow=false&previous=0&timestamps=False'), plain)
  t.strictSame(options('tailLines=0&limitBytes=%2B7'), { ...plain, tailLines: 0, limitBytes: 7 })
  t.strictSame(options('limitBytes=7&sinceSeconds=5'), { ...plain, limitBytes: 7, since: at - 5000 })
  t.strictSame(options('sinceTime=2026-01-01T01:00:00.5%2B01:00'), { ...plain, since: at + 500 })
  t.strictSame(options('sinceTime='), { ...plain, since: 0 })
  t.strictSame(options('stream=Stderr'), { ...plain, stream: 'Stderr' })
  t.strictSame(options('stream=All&tailLines=3'), { ...plain, tailLines: 3 })
  t.end()
})

t.test('invalid options are refused with the messages of kube-apiserver', async (t) => {
  const { send } = await startStreamServer(t)
  const invalid = (message: string) => ({ code: 422, json: { reason: 'Invalid', message: `PodLogOptions "p" is invalid: ${message}` } })
  const bad = (message: string) => ({ code: 400, json: { reason: 'BadRequest', message } })
  for (const [query, expected] of [
    ['tailLines=-1', invalid('tailLines: Invalid value: -1: must be greater than or equal to 0')],
    ['limitBytes=0', invalid('limitBytes: Invalid value: 0: must be greater than 0')],
    ['sinceSeconds=0', invalid('sinceSeconds: Invalid value: 0: must be greater than 0')],
    [
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      invalid(': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
    ],
    ['stream=x', invalid('stream: Unsupported value: "x": supported values: "Stdout", "Stderr", "All"')],
    ['stream=Stdout&tailLines=1', invalid(': Forbidden: `tailLines` and specific `stream` are mutually exclusive for now')],
    ['tailLines=x', bad('strconv.ParseInt: parsing "x": invalid syntax')],
    ['limitBytes=9223372036854775808', bad('strconv.ParseInt: parsing "9223372036854775808": value out of range')],
    [`sinceSeconds=${'9'.repeat(30)}`, bad(`strconv.ParseInt: parsing "${'9'.repeat(30)}": value out of range`)],
    ['sinceTime=now', bad('parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"')],
    ['container=x', bad('container x is not valid for pod p')],
    ['container=__proto__', bad('container __proto__ is not valid for pod p')],
  ] as const)
    t.match(await send(log('p', query)), expected, query)
})

t.test('the container may be omitted when the Pod has only one', async (t) => {
  const { send, containers } = await startStreamServer(t)
  const choice = 'a container name must be specified for pod several, choose one of: [init a b debugger]'
  t.match(await send(log('several')), { code: 400, json: { message: choice } })
  t.match(await send(log('empty')), { code: 400, json: { message: 'a container name must be specified for pod empty' } })
  t.match(await send(log('other')), { code: 404, json: { message: 'pods "other" not found' } })
  t.match(await send(log('unscheduled')), { code: 204, text: '' })
  for (const container of ['init', 'a', 'debugger']) t.match(await send(log('several', `container=${container}`)), { code: 200 })
  t.match(await send(log('p')), { code: 200 })
  t.strictSame(
    containers.logRequests.map(({ target }) => target.container),
    ['init', 'a', 'debugger', 'main'],
  )
  t.match(containers.logRequests.at(-1)?.target, { pod: 'p', uid: 'a-uid' })
})

t.test('a log is text, and a container without a log gets the error of its node', async (t) => {
  const { send, containers } = await startStreamServer(t)
  containers.lines.push({ at, stream: 'Stdout', text: 'one' }, { at, stream: 'Stderr', text: 'zwei ä' })
  t.match(await send(log('p')), { code: 200, text: 'one\nzwei ä\n', headers: { 'content-type': 'text/plain' } })
  t.match(await send(log('p', 'stream=Stderr')), { code: 200, text: 'zwei ä\n' })
  t.match(await send(log('p', 'previous=true')), {
    code: 400,
    json: { message: 'previous terminated container "main" in pod "p" not found' },
  })
})

t.test('a followed log begins at once, and ends with the container', async (t) => {
  const { agent, server, containers } = await startStreamServer(t)
  const response = await agent.request({
    origin: server.url,
    path: log('p', 'follow=true'),
    method: 'GET',
    headers: { authorization: `Bearer ${admin}` },
  })
  t.equal(response.statusCode, 200)
  const lines = response.body[Symbol.asyncIterator]()
  containers.followers[0]?.write('hello\n')
  t.equal(String((await lines.next()).value), 'hello\n')
  containers.followers[0]?.end('bye\n')
  t.equal(String((await lines.next()).value), 'bye\n')
  t.equal((await lines.next()).done, true)
})

t.test('a client that leaves ends the log, and a client that reads nothing stops its source', async (t) => {
  const { server, ca, containers } = await startStreamServer(t)
  let read = 0
  const chunk = Buffer.alloc(64 * 1024, 'x')
  containers.log = async (target, options, signal) => {
    containers.logRequests.push({ target, options, signal })
    return new Readable({
      signal,
      read() {
        read += chunk.length
        this.push(chunk)
      },
    }).on('error', () => undefined)
  }
  const request = get(`${server.url}${log('p', 'follow=true')}`, { ca, headers: { authorization: `Bearer ${admin}` } })
  const [response] = await once(request, 'response')
  response.pause()
  let before = -1
  await until('the source waits', () => {
    const isWaiting = read === before
    before = read
    return isWaiting
  })
  t.ok(read < 50_000_000, `the source was read up to ${read} bytes`)
  t.equal(containers.logRequests[0]?.signal.aborted, false)
  request.destroy()
  await until('the log ends', () => containers.logRequests[0]?.signal.aborted)
})

t.test('a log that fails in the middle breaks the response, and is logged', async (t) => {
  const { logger, lines } = recordingLogger()
  const { send, containers } = await startStreamServer(t, { logger })
  containers.log = async () => {
    return new Readable({
      read() {
        if (this.readableLength > 0) return
        this.push('half')
        setImmediate(() => this.destroy(new Error('the disk is gone')))
      },
    })
  }
  t.ok(await rejectionOf(send(log('p'))))
  await until('the failure is logged', () => lines.includes('error: a log broke off'))
  containers.log = () => Promise.reject(internalError('no disk'))
  t.match(await send(log('p')), { code: 500, json: { message: 'Internal error occurred: no disk' } })
})

t.test('a log that arrives after the client has left is closed', async (t) => {
  const { server, ca, containers } = await startStreamServer(t)
  const opened = Promise.withResolvers<Readable>()
  let signalled: AbortSignal | undefined
  containers.log = (_target, _options, signal) => {
    signalled = signal
    return opened.promise
  }
  const request = get(`${server.url}${log('p', 'follow=true')}`, { ca, headers: { authorization: `Bearer ${admin}` } })
  request.on('error', () => undefined)
  await until('the request arrives', () => signalled !== undefined)
  request.destroy()
  await until('the request ends', () => signalled?.aborted)
  const late = new Readable({ read: () => undefined })
  opened.resolve(late)
  await until('the log is closed', () => late.destroyed)
})
