/** Tests of watch streams. */
import t from 'tap'
import { request } from 'undici'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Resources } from '../../../src/devcluster/http/services.ts'
import { badRequest, expired } from '../../../src/devcluster/apimachinery/status-error.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { admin, foo, startTestServer } from '../../support/devcluster/http-server.ts'
import { until } from '../../../src/testing/until.ts'

const path = '/apis/a.example.com/v1/namespaces/default/foos?watch=true'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

type Watch = Resources['watch']

/** Starts a server with this watch. Returns the events that were received until the end of the watch. */
async function eventsOf(
  t: Parameters<typeof startTestServer>[0],
  watch: Watch,
  options: { accept?: string; query?: string } = {},
): Promise<JsonObject[]> {
  const { send } = await startTestServer(t, { registry: { watch } })
  const { code, text } = await send(`${path}${options.query ?? ''}`, options.accept === undefined ? {} : { accept: options.accept })
  t.equal(code, 200)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}

t.test('each event is one line of JSON', async (t) => {
  const events = await eventsOf(t, async function* () {
    yield { type: 'ADDED', object: foo('a') }
    yield { type: 'MODIFIED', object: foo('a', { size: 2 }, '2') }
    yield { type: 'BOOKMARK', object: { kind: 'Foo', apiVersion: 'a.example.com/v1', metadata: { resourceVersion: '9' } } }
  })
  t.strictSame(events, [
    { type: 'ADDED', object: foo('a') },
    { type: 'MODIFIED', object: foo('a', { size: 2 }, '2') },
    { type: 'BOOKMARK', object: { kind: 'Foo', apiVersion: 'a.example.com/v1', metadata: { resourceVersion: '9' } } },
  ])
})

t.test('headers are sent before the first event, and each event immediately', async (t) => {
  const gate = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const { server, agent } = await startTestServer(t, {
    registry: {
      async *watch() {
        await gate.promise
        yield { type: 'ADDED', object: foo('a') }
        await end.promise
      },
    },
  })
  const response = await request(`${server.url}${path}`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}` } })
  t.match(response, {
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked', 'cache-control': 'no-cache, private' },
  })
  gate.resolve()
  const chunks = response.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  t.match(String((await chunks.next()).value), /^\{"type":"ADDED"/)
  end.resolve()
  t.equal((await chunks.next()).done, true)
})

t.test('a watch ends when its client disconnects', async (t) => {
  const ended = Promise.withResolvers<void>()
  const { server, agent } = await startTestServer(t, {
    registry: {
      async *watch(_info, _options, signal) {
        yield { type: 'ADDED', object: foo('a') }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        ended.resolve()
      },
    },
  })
  const response = await request(`${server.url}${path}`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}` } })
  response.body.on('error', () => undefined).destroy()
  await t.resolves(ended.promise)
})

t.test('an error of the request is a response, not an event', async (t) => {
  for (const watch of [
    (() => {
      throw badRequest('no such field')
    }) as Watch,
    async function* () {
      throw badRequest('no such field')
    } as Watch,
  ]) {
    const { send } = await startTestServer(t, { registry: { watch } })
    t.match(await send(path), { code: 400, json: { kind: 'Status', message: 'no such field' } })
  }
})

t.test('an unexpected error before the first event is a response with 500', async (t) => {
  const { send } = await startTestServer(t, {
    registry: {
      watch: () => {
        throw new Error('boom')
      },
    },
  })
  t.match(await send(path), { code: 500, json: { message: 'Internal error occurred: boom' } })
})

t.test('a resourceVersion that is too old is reported by an ERROR event', async (t) => {
  for (const watch of [
    (() => {
      throw expired('too old resource version: 1 (199)')
    }) as Watch,
    async function* () {
      throw expired('too old resource version: 1 (199)')
    } as Watch,
  ]) {
    t.match(await eventsOf(t, watch), [
      { type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410, message: 'too old resource version: 1 (199)' } },
    ])
  }
})

t.test('an error in the stream is the last event, and is logged when it is unexpected', async (t) => {
  const { logger, entries } = recordingLogger()
  let error: Error = new Error('boom')
  const { send } = await startTestServer(t, {
    logger,
    registry: {
      async *watch() {
        yield { type: 'ADDED', object: foo('a') }
        throw error
      },
    },
  })
  const last = async (): Promise<unknown> => JSON.parse((await send(path)).text.trim().split('\n')[1]!)
  t.match(await last(), { type: 'ERROR', object: { code: 500, message: 'Internal error occurred: boom' } })
  t.match(entries, [{ level: 'error', msg: 'a watch failed', err: { message: 'boom' } }])
  error = expired('too old')
  t.match(await last(), { type: 'ERROR', object: { code: 410, message: 'too old' } })
  t.equal(entries.length, 1)
})

t.test('a watch of a deprecated version warns, and a finished watch is released', async (t) => {
  let ended = 0
  const { send } = await startTestServer(t, {
    registry: {
      async *watch() {
        try {
          yield { type: 'ADDED', object: foo('a') }
        } finally {
          ended += 1
        }
      },
    },
  })
  t.match(await send('/apis/a.example.com/v1beta1/foos?watch=1'), {
    code: 200,
    headers: { warning: '299 - "a.example.com/v1beta1 Foo is deprecated"' },
  })
  t.equal(ended, 1)
})

t.test('a client that reads nothing for a minute is disconnected', async (t) => {
  const clock = new FakeClock()
  const text = 'x'.repeat(1_000_000)
  let ended = false
  const { server, agent } = await startTestServer(t, {
    clock,
    registry: {
      async *watch() {
        try {
          for (;;) yield { type: 'ADDED', object: foo('a', { text }) }
        } finally {
          ended = true
        }
      },
    },
  })
  const response = await request(`${server.url}${path}`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}` } })
  response.body.on('error', () => undefined)
  await until('the server waits for the client', () => clock.pending > 0)
  t.equal(ended, false)
  t.equal(clock.nextDue! - clock.now(), 60_000)
  await until('the watch has ended', async () => {
    await clock.advance(60_000)
    return ended
  })
  await t.rejects(response.body.text())
  t.equal(clock.pending, 0)
})

t.test('a watch as Table has column definitions in the first event only', async (t) => {
  const events = await eventsOf(
    t,
    async function* () {
      yield { type: 'ADDED', object: foo('a', { size: 1 }) }
      yield { type: 'DELETED', object: foo('a', { size: 1 }, '3') }
    },
    { accept: table },
  )
  t.match(events[0], {
    type: 'ADDED',
    object: { kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Size' }], rows: [{ cells: ['a', 1] }] },
  })
  t.match(events[1], { type: 'DELETED', object: { kind: 'Table', metadata: { resourceVersion: '3' }, rows: [{ cells: ['a', 1] }] } })
  t.equal((events[1]!.object as JsonObject).columnDefinitions, null)
})

t.test('a watch as PartialObjectMetadata sends metadata only', async (t) => {
  const watch = async function* () {
    yield { type: 'ADDED' as const, object: foo('a', { size: 1 }) }
  }
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
  t.strictSame(await eventsOf(t, watch, { accept }), [
    { type: 'ADDED', object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: foo('a').metadata! } },
  ])
})

t.test('the query of a watch reaches the registry', async (t) => {
  const seen: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      async *watch(_info, options) {
        seen.push(options)
      },
    },
  })
  await send(`${path}&resourceVersion=5&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&timeoutSeconds=7&allowWatchBookmarks=true`)
  await send(`/apis/a.example.com/v1/foos?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`)
  t.strictSame(seen, [
    {
      namespace: 'default',
      resourceVersion: '5',
      labelSelector: 'a=b',
      fieldSelector: 'metadata.name=x',
      name: 'x',
      timeoutSeconds: 7,
      allowWatchBookmarks: true,
    },
    { sendInitialEvents: true, allowWatchBookmarks: false },
  ])
  await send('/api/v1/watch/namespaces/default/pods/x')
  await send('/api/v1/watch/namespaces/default/pods/x?fieldSelector=a%3Db')
  await send('/api/v1/namespaces/default/pods?watch=1&fieldSelector=metadata.name%3Dx')
  await send('/api/v1/namespaces/default/pods?watch=1&limit=3&sendInitialEvents=false&resourceVersionMatch=NotOlderThan')
  t.strictSame(seen.slice(2), [
    { namespace: 'default', name: 'x', allowWatchBookmarks: false },
    { namespace: 'default', fieldSelector: 'a=b', name: 'x', allowWatchBookmarks: false },
    { namespace: 'default', fieldSelector: 'metadata.name=x', name: 'x', allowWatchBookmarks: false },
    { namespace: 'default', sendInitialEvents: false, allowWatchBookmarks: false },
  ])
})

t.test('list options that a watch does not support are refused', async (t) => {
  const { send } = await startTestServer(t)
  const field = 'resourceVersionMatch: Forbidden:'
  const refusals: [query: string, problems: string][] = [
    ['&sendInitialEvents=true', `${field} sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`],
    ['&sendInitialEvents=false', `${field} sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`],
    ['&resourceVersionMatch=NotOlderThan', `${field} resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`],
    ['&continue=x', `${field} resourceVersionMatch is forbidden when continue is provided`],
    [
      '&sendInitialEvents=true&resourceVersionMatch=Exact',
      `[${field} sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
    ],
  ]
  for (const [query, problems] of refusals) {
    const { code, json } = await send(path + query)
    t.equal(code, 422, query)
    t.equal(json.message, `ListOptions.meta.k8s.io "" is invalid: ${problems}`)
  }
  t.match(await send(path, { accept: 'application/yaml' }), { code: 406 })
})

t.test('a slow client gets every event without unbounded buffering', async (t) => {
  const big = foo('a', { text: 'x'.repeat(100_000) })
  let sent = 0
  const clock = new FakeClock()
  const { server, agent } = await startTestServer(t, {
    clock,
    registry: {
      async *watch() {
        for (; sent < 200; sent += 1) yield { type: 'ADDED', object: big }
      },
    },
  })
  const response = await request(`${server.url}${path}`, { dispatcher: agent, headers: { authorization: `Bearer ${admin}` } })
  const sentBeforeReading = sent
  t.equal((await response.body.text()).split('\n').length, 201)
  t.ok(sentBeforeReading < 200, `${sentBeforeReading} events were taken before the client read`)
  t.equal(clock.pending, 0, 'the time limit of each wait has been cancelled')
})

t.test('an ERROR event of a watch as Table has no column definitions, and the next event has them', async (t) => {
  const events = await eventsOf(
    t,
    async function* () {
      yield { type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', code: 410 } }
      yield { type: 'ADDED', object: foo('a', { size: 1 }) }
      yield { type: 'ADDED', object: foo('b', { size: 1 }) }
    },
    { accept: table },
  )
  t.strictSame(events[0], { type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', code: 410 } })
  t.match(events[1], { object: { columnDefinitions: [{ name: 'Name' }, { name: 'Size' }] } })
  t.equal((events[2]!.object as JsonObject).columnDefinitions, null)
})
