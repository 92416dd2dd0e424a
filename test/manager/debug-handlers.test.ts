import { Session } from 'node:inspector/promises'
import type { PassThrough } from 'node:stream'
import { json as readJson } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { WorkQueue } from '../../src/controller/queue.ts'
import { debugHandlers, debugPaths, loopbackHostsOnly, type DebugSources } from '../../src/manager/debug-handlers.ts'
import type { Answer } from '../../src/manager/http-endpoint.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { until } from '../../src/testing/until.ts'

function world(sources: Partial<DebugSources> = {}) {
  const clock = new FakeClock()
  const { logger } = recordingLogger()
  const handlers = debugHandlers({ queues: () => new Map(), cache: () => [], memoryLimitBytes: 2 ** 40, clock, logger, ...sources })
  const ask = async (path: string, { method = 'GET', signal = new AbortController().signal } = {}): Promise<Answer> => {
    for (const handler of handlers) {
      const found = await handler(new URL(path, 'http://localhost'), { method, signal })
      if (found !== undefined) return found
    }
    return { code: 404, body: '' }
  }
  return { ask, clock, logger }
}

const contentOf = ({ body }: Answer): unknown => JSON.parse(body as string)

t.test('the index lists what is served', async (t) => {
  const { ask } = world()
  const { body } = await ask('/debug')
  const paths = (body as string).match(/\/debug\/[\w-]+/g)!
  for (const path of new Set(paths))
    if (!path.endsWith('/heap') && !path.endsWith('/profile')) t.match(await ask(path), { code: 200 }, path)
  t.match(await ask('/debug/other'), { code: 404 })
  t.strictSame(new Set(paths), new Set(debugPaths.filter((path) => !/^\/debug\/?$/.test(path))), 'permissions are reviewed for these')
})

t.test('queues are listed with the state of each key', async (t) => {
  const clock = new FakeClock()
  const queue = new WorkQueue<string>({ clock })
  queue.add('a/working')
  await queue.get()
  queue.add('a/working', { priority: 3 })
  queue.add('a/ready', { priority: -1 })
  queue.addRateLimited('a/failed')
  await clock.advance(2)
  const { ask } = world({ queues: () => new Map([['thing', queue]]) })
  t.strictSame(contentOf(await ask('/debug/queues')), {
    queues: [
      {
        controller: 'thing',
        keys: 4,
        entries: [
          { key: 'a/working', state: 'working', priority: 0, failures: 0, seconds: 0.002 },
          { key: 'a/working', state: 'held', priority: 3, failures: 0, seconds: 0.002 },
          { key: 'a/ready', state: 'ready', priority: -1, failures: 0, seconds: 0.002 },
          { key: 'a/failed', state: 'delayed', priority: 0, failures: 1, seconds: 0.003 },
        ],
      },
    ],
  })
  for (let index = 0; index < 2000; index++) queue.add(`b/${index}`)
  const entriesOf = (answer: Answer): number => (contentOf(answer) as { queues: { entries: unknown[] }[] }).queues[0]!.entries.length
  t.equal(entriesOf(await ask('/debug/queues')), 1000)
  t.equal(entriesOf(await ask('/debug/queues?limit=1')), 1)
  for (const limit of ['-1', '1001', 'x', '1.5']) t.match(await ask(`/debug/queues?limit=${limit}`), { code: 400 }, limit)
  queue.shutDown()
})

t.test('the cache and the process are shown', async (t) => {
  const type = { type: 'pods', synced: false, objects: 3, lastError: 'forbidden' }
  const { ask } = world({ cache: () => [type] })
  t.strictSame(contentOf(await ask('/debug/cache')), { types: [type] })
  t.match(contentOf(await ask('/debug/process')), { uptimeSeconds: Number, memory: { rss: Number }, handles: Object })
})

t.test('PUT changes the log level, and nothing else', async (t) => {
  const { ask, logger } = world()
  t.match(await ask('/debug/log-level'), { code: 200, body: 'info\n' })
  t.match(await ask('/debug/log-level?level=debug', { method: 'PUT' }), { code: 200, body: 'debug\n' })
  t.equal(logger.level, 'debug')
  t.match(await ask('/debug/log-level?level=loud', { method: 'PUT' }), { code: 400, body: /must be one of/ })
  t.match(await ask('/debug/log-level', { method: 'PUT' }), { code: 400 })
  t.match(await ask('/debug/queues', { method: 'PUT' }), { code: 405 })
  t.equal(logger.level, 'debug')
})

t.test('a CPU profile takes the given time, one at a time, and ends when the client disconnects', async (t) => {
  const { ask, clock } = world()
  const disconnect = Reflect.get(Session.prototype, 'disconnect') as (this: Session) => void
  const disconnected = t.capture(Session.prototype, 'disconnect', disconnect)
  const profile = ask('/debug/profile?seconds=3')
  t.match(await ask('/debug/profile'), { code: 429, body: 'a CPU profile is running: try again later\n' })
  t.match(await ask('/debug/heap'), { code: 429 })
  await until('it is taken', async () => {
    await clock.advance(3000)
    return Promise.race([profile.then(() => true), new Promise((resolve) => setImmediate(resolve))])
  })
  const answer = await profile
  t.match(answer, { code: 200, headers: { 'content-disposition': /\.cpuprofile"$/ } })
  t.match(contentOf(answer), { nodes: Array, samples: Array })
  const aborted = new AbortController()
  const other = ask('/debug/profile', { signal: aborted.signal })
  aborted.abort(new Error('gone'))
  await t.rejects(other, { message: 'gone' })
  t.equal(disconnected().length, 2, 'the profiler is switched off')
  for (const seconds of ['0', '-1', '61', 'x', 'NaN']) t.match(await ask(`/debug/profile?seconds=${seconds}`), { code: 400 }, seconds)
})

t.test('a heap snapshot is a stream, one at a time, and is refused without the memory for it', async (t) => {
  const { ask } = world()
  const { code, body, headers } = await ask('/debug/heap')
  t.equal(code, 200)
  t.match(headers, { 'content-disposition': /\.heapsnapshot"$/ })
  t.match(await ask('/debug/heap'), { code: 429, body: 'a heap snapshot is running: try again later\n' })
  const snapshot = (await readJson(body as PassThrough)) as { snapshot: object; nodes: number[] }
  t.ok(snapshot.snapshot)
  t.ok(snapshot.nodes.length > 1000)
  const abandoned = (await ask('/debug/heap')).body as PassThrough
  abandoned.destroy()
  await until('the next one may start', async () => {
    const next = await ask('/debug/heap')
    if (typeof next.body !== 'string') next.body.destroy()
    return next.code === 200
  })
  const small = world({ memoryLimitBytes: process.memoryUsage.rss() })
  for (let index = 0; index < 2; index++) t.match(await small.ask('/debug/heap'), { code: 503, body: /a heap snapshot needs \d+ MiB, and/ })
})

t.test('without authentication, the Host header is an address or localhost', async (t) => {
  const codeFor = async (host?: string): Promise<number> =>
    (await loopbackHostsOnly({ headers: { host } } as unknown as IncomingMessage, new URL('http://localhost')))?.code ?? 200
  for (const host of ['localhost', 'LOCALHOST:6060', '127.0.0.1:6060', '[::1]:6060', '[::1]']) t.equal(await codeFor(host), 200, host)
  for (const host of [undefined, '', 'evil.example.com', 'localhost.example.com:6060', '127.0.0.1.nip.io:6060'])
    t.equal(await codeFor(host), 403, String(host))
})

t.test('without authentication, requests of web pages are refused', async (t) => {
  const codeFor = async (headers: Record<string, string>): Promise<number> => {
    const request = { headers: { host: '127.0.0.1:6060', ...headers } } as unknown as IncomingMessage
    return (await loopbackHostsOnly(request, new URL('http://localhost')))?.code ?? 200
  }
  for (const site of ['cross-site', 'same-site', 'same-origin', '']) t.equal(await codeFor({ 'sec-fetch-site': site }), 403, site)
  for (const origin of ['https://evil.example.com', 'http://127.0.0.1:6060', 'null']) t.equal(await codeFor({ origin }), 403, origin)
  t.equal(await codeFor({ 'sec-fetch-site': 'none' }), 200)
  t.equal(await codeFor({}), 200)
})
