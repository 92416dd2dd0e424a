import t from 'tap'
import type { Test } from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { StatusDetails } from '../../src/api/status.ts'
import { failure } from '../../src/api/status.ts'
import { Reflector } from '../../src/cache/reflector.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { ListOptions, WatchOptions } from '../../src/client/client.ts'
import { ResponseTooLargeError } from '../../src/client/response-too-large.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { ListAnswer } from '../support/client/fake-cluster.ts'
import { ScriptedClient, object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const expired = new ApiError(failure(410, 'Expired', 'too old resource version: 1 (9)'))
const missing = new ApiError(failure(404, 'NotFound', 'the server could not find the requested resource'))
const unreachable = new ProreusError('PRO_API_UNREACHABLE', 'Nothing answers at https://x.')

function setUp(
  t: Test,
  options: { namespace?: string; answers?: ScriptedClient['answers']; random?: number; level?: string; onPrepare?: () => void } = {},
) {
  const script = new ScriptedClient()
  if (options.answers !== undefined) script.answers = options.answers
  const clock = new FakeClock()
  const log = recordingLogger(options.level)
  const seen: string[] = []
  const reflector = new Reflector({
    client: script.client,
    type: widget,
    namespace: options.namespace,
    logger: log.logger,
    clock,
    random: () => options.random ?? 0,
    ...(options.onPrepare !== undefined && { prepare: (object) => (options.onPrepare!(), object) }),
    sink: {
      listing: () => undefined,
      replace: async ({ objects }) => void seen.push(`= ${objects.map(({ metadata }) => metadata.name).join(' ')}`),
      change: (type, { metadata }) => void seen.push(`${type} ${metadata.name}`),
      synced: () => void seen.push('synced'),
    },
  })
  const abort = new AbortController()
  const running = reflector.run(abort.signal)
  t.teardown(async () => {
    abort.abort()
    await running
  })
  return { script, clock, log, seen, reflector, abort, running }
}

t.test('the reflector lists in pages, then watches with bookmarks', async (t) => {
  const { script, seen, reflector } = setUp(t, {
    namespace: 'ns',
    random: 0.5,
    answers: [
      { items: [object('a', 1), object('b', 2)], resourceVersion: '7', continue: 'token' },
      { items: [object('c', 3)], resourceVersion: '7', continue: '' },
    ],
  })
  await eventually(() => script.watches.length === 1)
  t.strictSame(script.lists, [
    { namespace: 'ns', limit: 500 },
    { namespace: 'ns', limit: 500, continue: 'token' },
  ])
  t.strictSame(seen, ['= a b c', 'synced'])
  t.ok(reflector.synced)
  t.match(script.lastWatch.options, { namespace: 'ns', resourceVersion: '7', allowWatchBookmarks: true, timeoutSeconds: 75 })

  script.lastWatch.send('ADDED', object('d', 8))
  script.lastWatch.send('DELETED', object('a', 9))
  await eventually(() => script.lastWatch.drained)
  t.strictSame(seen.slice(2), ['ADDED d', 'DELETED a'])
})

t.test('a watch that the server ends resumes from the last bookmark', async (t) => {
  const { script, seen, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.bookmark('20')
  await eventually(() => script.lastWatch.drained)
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  t.equal(script.lastWatch.options.resourceVersion, '20')
  await clock.advance(80_000)
  script.lastWatch.end()
  await eventually(() => script.watches.length === 3)
  t.equal(script.lists.length, 1)
  t.strictSame(seen, ['= ', 'synced'])
})

t.test('a change of the time of day neither ends a watch nor counts as its duration', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.bookmark('20')
  await eventually(() => script.lastWatch.drained)
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  clock.set(clock.now() + 86_400_000)
  await clock.advance(89_000)
  t.equal(script.watches.length, 2)
  clock.set(clock.now() - 86_400_000)
  await clock.advance(1_000) // now 90 s have passed without an event or bookmark
  await eventually(() => clock.pending === 1)
  await clock.advance(1_000) // the delay before the next watch
  await eventually(() => script.watches.length === 3)
})

t.test('watches that end at once are followed by pauses', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.end()
  await eventually(() => clock.nextDue === clock.now() + 800)
  t.equal(script.watches.length, 1)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
  t.equal(script.lists.length, 1)
})

t.test('watches that end after a few events are followed by pauses, except the first', async (t) => {
  const { script, clock, log, reflector } = setUp(t)
  const cut = async (watches: number): Promise<void> => {
    await eventually(() => script.watches.length === watches)
    script.lastWatch.send('MODIFIED', object('a', 10 + watches))
    await clock.advance(900)
    script.lastWatch.end()
  }
  await cut(1)
  for (const [watches, pause] of [
    [2, 1600],
    [3, 3200],
    [4, 6400],
    [5, 12_800],
    [6, 25_600],
    [7, 30_000],
  ] as const) {
    await cut(watches)
    await eventually(() => clock.nextDue === clock.now() + pause)
    t.match(reflector.lastError, /ends the watch/)
    await clock.advance(pause)
  }
  await eventually(() => script.watches.length === 8)
  t.equal(script.lastWatch.options.resourceVersion, '17')
  t.equal(script.lists.length, 1)
  t.strictSame(log.lines, ['warn: The API server, or a proxy, ends the watch of widgets.example.com within a second.'])
  script.lastWatch.send('MODIFIED', object('a', 20))
  await clock.advance(5_000)
  t.equal(reflector.lastError, undefined, 'the watch has lasted')
  t.strictSame(log.lines.slice(1), ['info: widgets.example.com can be listed and watched again'])
  script.lastWatch.end()
  await cut(9)
  await eventually(() => script.watches.length === 10)
})

t.test('an expired resourceVersion causes a relist at once', async (t) => {
  const { script, seen, log } = setUp(t, {
    answers: [
      { items: [object('a', 1)], resourceVersion: '1' },
      { items: [object('b', 5)], resourceVersion: '9' },
    ],
  })
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(expired)
  await eventually(() => script.watches.length === 2)
  t.equal(script.lastWatch.options.resourceVersion, '9')
  t.strictSame(seen, ['= a', 'synced', '= b'])
  t.strictSame(log.lines, [])
})

t.test('repeated expiry backs off', async (t) => {
  const { script, clock } = setUp(t)
  script.watchErrors.push(expired, expired)
  await eventually(() => clock.nextDue === clock.now() + 1600)
  t.equal(script.lists.length, 2)
})

t.test('expiry after one event backs off too, until a watch has lasted', async (t) => {
  const { script, clock } = setUp(t)
  const oneEventThenExpired = async (watches: number): Promise<void> => {
    await eventually(() => script.watches.length === watches)
    script.lastWatch.send('ADDED', object('a', watches))
    script.lastWatch.fail(expired)
  }
  await oneEventThenExpired(1)
  for (const [watches, pause] of [
    [2, 1600],
    [3, 3200],
  ] as const) {
    await oneEventThenExpired(watches)
    await eventually(() => clock.nextDue === clock.now() + pause)
    t.equal(script.lists.length, watches)
    await clock.advance(pause)
  }
  await eventually(() => script.watches.length === 4)
  await clock.advance(5_000)
  await oneEventThenExpired(4)
  await eventually(() => script.watches.length === 5)
})

t.test('an expired continue token causes another list in pages, then one without pages', async (t) => {
  const { script, seen } = setUp(t, {
    answers: [
      { items: [object('a', 1)], resourceVersion: '5', continue: 'token' },
      expired,
      { items: [object('a', 1)], resourceVersion: '7', continue: 'token' },
      expired,
      { items: [object('a', 1), object('b', 6)], resourceVersion: '8' },
    ],
  })
  await eventually(() => script.watches.length === 1)
  t.strictSame(script.lists, [
    { namespace: undefined, limit: 500 },
    { namespace: undefined, limit: 500, continue: 'token' },
    { namespace: undefined, limit: 500 },
    { namespace: undefined, limit: 500, continue: 'token' },
    { namespace: undefined },
  ])
  t.strictSame(seen, ['= a b', 'synced'])
  t.equal(script.lastWatch.options.resourceVersion, '8')
})

t.test('the next page is requested before the objects of a page are processed', async (t) => {
  const requested: number[] = []
  const { script, seen } = setUp(t, {
    answers: [
      { items: [object('a', 1), object('b', 2)], resourceVersion: '5', continue: 'token' },
      { items: [object('c', 3)], resourceVersion: '5' },
    ],
    onPrepare: () => requested.push(script.lists.length),
  })
  await eventually(() => script.watches.length === 1)
  t.strictSame(requested, [2, 2, 2])
  t.strictSame(seen, ['= a b c', 'synced'])
})

t.test('a page that is too large is requested again with fewer objects, and with the same continue token', async (t) => {
  const tooLarge = new ResponseTooLargeError({ method: 'GET', path: '/apis/example.com/v1/widgets' }, 1024 * 1024)
  const { script, seen, log } = setUp(t, {
    answers: [
      { items: [object('a', 1)], resourceVersion: '5', continue: 'token' },
      tooLarge,
      tooLarge,
      { items: [object('b', 2)], resourceVersion: '5', continue: 'next' },
      { items: [object('c', 3)], resourceVersion: '5' },
    ],
  })
  await eventually(() => script.watches.length === 1)
  t.strictSame(
    script.lists.map(({ limit, continue: token }) => [limit, token]),
    [
      [500, undefined],
      [500, 'token'],
      [250, 'token'],
      [125, 'token'],
      [132, 'next'],
    ],
  )
  t.strictSame(seen, ['= a b c', 'synced'])
  t.strictSame(log.lines, [], 'nothing is wrong')
  script.answers = [{ items: [], resourceVersion: '9' }]
  script.lastWatch.fail(expired)
  await eventually(() => script.lists.length === 6)
  t.equal(script.lists.at(-1)?.limit, 139, 'the next list begins with the last size')
})

t.test('a single object that the client refuses is a failure with a pause', async (t) => {
  const tooLarge = new ResponseTooLargeError({ method: 'GET', path: '/apis/example.com/v1/widgets' }, 10)
  const { script, clock, reflector } = setUp(t, { answers: [tooLarge] })
  await eventually(() => clock.nextDue !== undefined)
  t.equal(script.lists.length, 10)
  t.equal(script.lists.at(-1)?.limit, 1)
  t.match(reflector.lastError, /more than 10 bytes \(maxResponseBytes\)/)
})

t.test('a list that has no end fails, and is tried again after a pause', async (t) => {
  const { script, clock, reflector } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '5', continue: 'token' }] })
  await eventually(() => clock.nextDue === clock.now() + 800)
  t.equal(script.lists.length, 2)
  t.match(reflector.lastError, /has no end/)
})

t.test('a continue token that expires again after the list without pages causes a pause', async (t) => {
  const page = (token: string): ListAnswer => ({ items: [object('a', 1)], resourceVersion: '5', continue: token })
  const { script, clock } = setUp(t, { answers: [page('1'), expired, page('2'), expired, page('3'), expired, page('4'), expired] })
  await eventually(() => clock.nextDue === clock.now() + 1600)
  t.equal(script.lists.length, 10)
})

t.test('a broken connection resumes the watch, with growing pauses', async (t) => {
  const { script, clock, log, reflector } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('a', 5))
  await eventually(() => script.lastWatch.drained)
  script.watchErrors.push(unreachable, unreachable)
  script.lastWatch.fail(unreachable)
  for (const [watches, pause] of [
    [2, 800],
    [3, 1600],
    [4, 3200],
  ] as const) {
    await eventually(() => clock.nextDue === clock.now() + pause)
    t.equal(reflector.lastError, 'Nothing answers at https://x.')
    await clock.advance(pause)
    await eventually(() => script.watches.length === watches)
    t.equal(script.lastWatch.options.resourceVersion, '5')
  }
  t.equal(script.lists.length, 1)
  t.strictSame(log.lines, ['warn: Nothing answers at https://x.'])
  await clock.advance(5_000)
  t.equal(reflector.lastError, undefined, 'the watch has lasted')
  t.strictSame(log.lines.slice(1), ['info: widgets.example.com can be listed and watched again'])
})

const status = (code: number, reason: string): ApiError => new ApiError(failure(code, reason, `${code} of a proxy`))

t.test('a refused watch resumes from its resourceVersion', async (t) => {
  const refusals: [string, Error][] = [
    ['401', status(401, 'Unauthorized')],
    ['403', status(403, 'Forbidden')],
    ['429', status(429, 'TooManyRequests')],
    ['500', status(500, 'InternalError')],
    ['502', status(502, 'Unknown')],
    ['503', status(503, 'ServiceUnavailable')],
    ['504', status(504, 'Timeout')],
    ['an unreadable token file', Object.assign(new Error('no such file: token'), { code: 'ENOENT' })],
    ['failing credentials', new ProreusError('PRO_KUBECONFIG', 'the exec plugin failed')],
  ]
  for (const [name, refusal] of refusals) {
    t.test(name, async (t) => {
      const { script, clock, reflector } = setUp(t)
      await eventually(() => script.watches.length === 1)
      script.lastWatch.send('ADDED', object('a', 5))
      await eventually(() => script.lastWatch.drained)
      script.watchErrors.push(refusal, refusal)
      script.lastWatch.fail(unreachable)
      for (const [watches, pause] of [
        [2, 800],
        [3, 1600],
        [4, 3200],
      ] as const) {
        await eventually(() => clock.nextDue === clock.now() + pause)
        t.not(reflector.lastError, undefined)
        await clock.advance(pause)
        await eventually(() => script.watches.length === watches)
        t.equal(script.lastWatch.options.resourceVersion, '5')
      }
      t.equal(script.lists.length, 1)
    })
  }
})

t.test('a resourceVersion that the server refuses causes a relist', async (t) => {
  const tooLarge = failure(504, 'Timeout', 'Too large resource version: 9, current: 1', {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
  })
  for (const refusal of [status(400, 'BadRequest'), status(422, 'Invalid'), new ApiError(tooLarge)]) {
    const { script, clock } = setUp(t)
    script.watchErrors.push(refusal)
    await eventually(() => clock.nextDue === clock.now() + 800)
    await clock.advance(800)
    await eventually(() => script.watches.length === 2)
    t.equal(script.lists.length, 2)
  }
})

t.test('a malformed Status does not end the reflector', async (t) => {
  const details = { causes: [null] } as unknown as StatusDetails
  const { script, clock } = setUp(t)
  script.watchErrors.push(new ApiError(failure(504, 'Timeout', 'x', details)))
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
})

t.test('a watch that only connects does not clear the error', async (t) => {
  const { script, clock, log, reflector } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.answersWatches = false
  script.lastWatch.fail(unreachable)
  for (const [watches, pause] of [
    [2, 800],
    [3, 1600],
    [4, 3200],
  ] as const) {
    await eventually(() => clock.nextDue === clock.now() + pause)
    await clock.advance(pause)
    await eventually(() => script.watches.length === watches)
    await clock.advance(10_000)
    t.equal(reflector.lastError, 'Nothing answers at https://x.', 'even after the time in which a working watch settles')
    if (watches < 4) script.lastWatch.fail(unreachable)
  }
  script.lastWatch.end()
  await eventually(() => clock.nextDue === clock.now() + 6400)
  t.strictSame(log.lines, ['warn: Nothing answers at https://x.'])
})

t.test('an open watch that fails with an API error causes a relist', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(new ApiError(failure(500, 'InternalError', 'etcd')))
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
  t.equal(script.lists.length, 2)
})

t.test('a missing CRD is logged once and waited for', async (t) => {
  const { script, clock, log, seen, reflector } = setUp(t, {
    answers: [missing, missing, missing, missing, missing, missing, { items: [], resourceVersion: '1' }],
  })
  for (const pause of [800, 1600, 3200, 5000, 5000, 5000]) {
    await eventually(() => clock.nextDue === clock.now() + pause)
    t.match(reflector.lastError, 'install its CustomResourceDefinition')
    await clock.advance(pause)
  }
  await eventually(() => script.watches.length === 1)
  t.strictSame(seen, ['= ', 'synced'])
  t.equal(reflector.lastError, undefined)
  t.strictSame(log.lines, [
    'warn: The API server does not serve widgets.example.com in version v1: install its CustomResourceDefinition. `proreus run --install` installs those of the operators. Waiting for it.',
    'info: widgets.example.com can be listed and watched again',
  ])
})

t.test('objects are kept when the CRD is deleted', async (t) => {
  const { script, clock, seen } = setUp(t, { answers: [{ items: [object('a', 1)], resourceVersion: '1' }, missing] })
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(missing)
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.lists.length === 2)
  t.strictSame(seen, ['= a', 'synced'])
})

t.test('a missing permission is logged once', async (t) => {
  const forbidden = new ApiError(failure(403, 'Forbidden', 'widgets.example.com is forbidden: User "u" cannot list'))
  const { script, clock, log } = setUp(t, { namespace: 'ns', answers: [forbidden, forbidden, { items: [], resourceVersion: '1' }] })
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => clock.nextDue === clock.now() + 1600)
  t.strictSame(log.lines, [
    'error: Not allowed to list widgets.example.com in the namespace ns: grant this operator the verbs list and watch on widgets.example.com. The API server answered: widgets.example.com is forbidden: User "u" cannot list',
  ])
  await clock.advance(1600)
  await eventually(() => script.watches.length === 1)
})

t.test('a forbidden watch is logged once, and causes no relist', async (t) => {
  const forbidden = new ApiError(failure(403, 'Forbidden', 'cannot watch'))
  const { script, clock, log } = setUp(t)
  script.watchErrors.push(forbidden, forbidden, forbidden)
  for (const pause of [800, 1600, 3200]) {
    await eventually(() => clock.nextDue === clock.now() + pause)
    await clock.advance(pause)
  }
  await eventually(() => script.watches.length === 4)
  t.equal(script.lists.length, 1)
  t.equal(log.lines.length, 1)
  t.match(log.lines[0], /^error: Not allowed to watch widgets\.example\.com in all namespaces/)
})

t.test('retryAfterSeconds of a busy server is respected', async (t) => {
  const busy = failure(429, 'TooManyRequests', 'too many requests', { retryAfterSeconds: 12 })
  const unavailable = failure(503, 'ServiceUnavailable', 'starting', { retryAfterSeconds: 12 })
  for (const status of [busy, unavailable]) {
    const { script, clock } = setUp(t)
    script.watchErrors.push(new ApiError(status))
    await eventually(() => clock.nextDue === clock.now() + 12_000)
    await clock.advance(12_000)
    await eventually(() => script.watches.length === 2)
    t.equal(script.lists.length, 1)
  }
})

t.test('a Retry-After delays a list or watch by 30 s at most, and is ignored when it is not a number', async (t) => {
  for (const [retryAfterSeconds, pause] of [
    [31_536_000, 30_000],
    [1e300, 800],
    ['x', 800],
  ] as const) {
    for (const code of [429, 500]) {
      const details = { retryAfterSeconds: retryAfterSeconds as number }
      const refusal = new ApiError(failure(code, code === 429 ? 'TooManyRequests' : 'InternalError', 'no', details))
      const { script, clock } = setUp(t, { answers: [refusal, { items: [], resourceVersion: '1' }] })
      await eventually(() => clock.nextDue === clock.now() + pause)
      await clock.advance(pause)
      await eventually(() => script.watches.length === 1)
    }
  }
})

t.test('a connection that is silent for longer than the watch timeout is dropped', async (t) => {
  const { script, clock, log } = setUp(t)
  await eventually(() => script.watches.length === 1)
  t.equal(script.lastWatch.options.timeoutSeconds, 60)
  await clock.advance(50_000)
  script.lastWatch.send('ADDED', object('a', 30))
  await eventually(() => script.lastWatch.drained)
  await clock.advance(89_000)
  t.equal(script.watches.length, 1)
  t.notOk(script.lastWatch.ended)
  await clock.advance(2_000)
  await eventually(() => script.watches.length === 2)
  t.equal(script.lastWatch.options.resourceVersion, '30')
  t.equal(script.lists.length, 1)
  t.strictSame(log.lines, ['warn: The watch of widgets.example.com was silent for 90 s: its connection is dead.'])
})

t.test('watches last longer once the server has sent a bookmark, and missing bookmarks are noticed', async (t) => {
  const { script, clock, log } = setUp(t)
  await eventually(() => script.watches.length === 1)
  await clock.advance(58_000)
  script.lastWatch.bookmark('30')
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  t.match(script.lastWatch.options, { resourceVersion: '30', timeoutSeconds: 300 })
  for (const version of ['31', '32']) {
    await clock.advance(62_000)
    script.lastWatch.bookmark(version)
    await eventually(() => script.lastWatch.drained)
  }
  await clock.advance(50_000)
  script.lastWatch.send('ADDED', object('a', 33))
  await eventually(() => script.lastWatch.drained)
  await clock.advance(89_000)
  t.notOk(script.lastWatch.ended)
  await clock.advance(2_000)
  await eventually(() => script.watches.length === 3)
  t.equal(script.lastWatch.options.resourceVersion, '33')
  t.equal(script.lists.length, 1)
  t.strictSame(log.lines, ['warn: The watch of widgets.example.com was silent for 90 s: its connection is dead.'])
})

t.test('a watch that is dead from its start is noticed', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.bookmark('30')
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  await clock.advance(91_000)
  await eventually(() => script.watches.length === 3)
  t.equal(script.lastWatch.options.resourceVersion, '30')
})

t.test('objects are frozen copies without managed fields', async (t) => {
  const emitted: unknown[] = []
  const script = new ScriptedClient()
  const original = { ...object('a', 1), spec: { list: [{ b: 1 }] } }
  Object.assign(original.metadata, { managedFields: [{ manager: 'kubectl' }] })
  script.answers = [{ items: [original], resourceVersion: '1' }]
  const reflector = new Reflector({
    client: script.client,
    type: widget,
    logger: recordingLogger().logger,
    sink: {
      listing: () => undefined,
      replace: async ({ objects }) => void emitted.push(...objects),
      change: () => undefined,
      synced: () => undefined,
    },
  })
  const abort = new AbortController()
  const running = reflector.run(abort.signal)
  await eventually(() => emitted.length === 1)
  abort.abort()
  await running
  const [frozen] = emitted as [typeof original]
  t.notOk('managedFields' in frozen.metadata)
  t.ok('managedFields' in original.metadata)
  t.throws(() => (frozen.metadata.name = 'b'), TypeError)
  t.throws(() => (frozen.spec.list[0]!.b = 2), TypeError)
})

t.test('the reflector stops with its signal in any state', async (t) => {
  for (const answers of [[missing], [{ items: [], resourceVersion: '1' }]]) {
    const { script, clock, abort, running, reflector, log } = setUp(t, { answers })
    await eventually(() => clock.pending > 0)
    const [before, lines] = [reflector.lastError, log.lines.length]
    abort.abort()
    await running
    t.equal(clock.pending, 0)
    t.equal(reflector.lastError, before, 'the end is not a failure')
    t.equal(log.lines.length, lines)
    t.ok(script.watches.every((watch) => watch.ended))
  }
})

t.test('a list that cannot be watched is an error', async (t) => {
  for (const resourceVersion of [undefined, '', 5]) {
    const answer = { items: [], ...(resourceVersion !== undefined && { resourceVersion: resourceVersion as string }) }
    const { clock, reflector } = setUp(t, { answers: [answer] })
    await eventually(() => clock.pending > 0)
    t.match(reflector.lastError, /came without a resourceVersion/)
    t.notOk(reflector.synced)
  }
})

t.test('an event or a bookmark without a valid resourceVersion causes a relist', async (t) => {
  for (const resourceVersion of [undefined, '', 6]) {
    for (const type of ['MODIFIED', 'BOOKMARK'] as const) {
      const { script, clock, seen, reflector } = setUp(t)
      await eventually(() => script.watches.length === 1)
      const faulty = object('a', 1)
      Object.assign(faulty.metadata, { resourceVersion })
      if (type === 'MODIFIED') script.lastWatch.send('MODIFIED', faulty)
      else script.lastWatch.bookmark(resourceVersion as string)
      await eventually(() => reflector.lastError !== undefined)
      t.match(reflector.lastError, /sent an event of widgets\.example\.com without a valid resourceVersion/)
      script.answers = [{ items: [object('b', 9)], resourceVersion: '9' }]
      await clock.advance(60_000)
      await eventually(() => script.watches.length === 2)
      t.strictSame(seen, ['= ', 'synced', '= b'], `${type} ${String(resourceVersion)}`)
      t.equal(script.lastWatch.options.resourceVersion, '9')
    }
  }
})

t.test('watches last 60 to 90 s until a bookmark arrives, then 300 to 600 s', async (t) => {
  for (const [random, unknown, bookmarked] of [
    [0, 60, 300],
    [0.999_999, 90, 600],
  ] as const) {
    const { script, clock } = setUp(t, { random })
    await eventually(() => script.watches.length === 1)
    t.equal(script.lastWatch.options.timeoutSeconds, unknown)
    script.lastWatch.bookmark('2')
    script.lastWatch.end()
    await eventually(() => script.watches.length === 2)
    t.equal(script.lastWatch.options.timeoutSeconds, bookmarked)
    script.lastWatch.send('ADDED', object('a', 3))
    await eventually(() => script.lastWatch.drained)
    await clock.advance(2_000)
    script.lastWatch.end()
    await eventually(() => script.watches.length === 3)
    t.equal(script.lastWatch.options.timeoutSeconds, bookmarked, 'also after an event of another type')
  }
})

t.test('a watch is considered dead 30 s after its timeout', async (t) => {
  const { script, clock, log } = setUp(t, { random: 0.999_999 })
  await eventually(() => script.watches.length === 1)
  await clock.advance(1_000)
  script.lastWatch.send('ADDED', object('a', 2))
  await eventually(() => script.lastWatch.drained)
  await clock.advance(119_999)
  t.notOk(script.lastWatch.ended)
  await clock.advance(1)
  t.ok(script.lastWatch.ended)
  await eventually(() => log.lines.length === 1)
  t.strictSame(log.lines, ['warn: The watch of widgets.example.com was silent for 120 s: its connection is dead.'])
})

t.test('with bookmarks, a watch is considered dead after 90 s', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.bookmark('2')
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  await clock.advance(89_999)
  t.notOk(script.lastWatch.ended)
  await clock.advance(1)
  t.ok(script.lastWatch.ended)
})

t.test('an error is cleared when a watch has been open for five seconds', async (t) => {
  const { script, clock, log, reflector } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
  await clock.advance(4_999)
  t.equal(reflector.lastError, 'Nothing answers at https://x.')
  await clock.advance(1)
  t.equal(reflector.lastError, undefined)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
  t.equal(log.lines.length, 3, 'logged again when it recurs')
})

t.test('an error is cleared by the first event, which does not reset the back-off', async (t) => {
  const { script, clock, reflector } = setUp(t)
  for (const pause of [800, 1600]) {
    await eventually(() => script.watches.length === (pause === 800 ? 1 : 2))
    script.lastWatch.bookmark('5')
    await eventually(() => script.lastWatch.drained)
    t.equal(reflector.lastError, undefined)
    script.lastWatch.fail(unreachable)
    await eventually(() => clock.nextDue === clock.now() + pause)
    t.not(reflector.lastError, undefined)
    await clock.advance(pause)
  }
})

t.test('a watch without events counts as working after a second', async (t) => {
  for (const [ms, works] of [
    [999, false],
    [1000, true],
  ] as const) {
    const { script, clock, reflector } = setUp(t)
    await eventually(() => script.watches.length === 1)
    await clock.advance(ms)
    script.lastWatch.end()
    if (works) await eventually(() => script.watches.length === 2)
    else await eventually(() => reflector.lastError === 'The watch of widgets.example.com ended as soon as it began.')
    t.equal(script.lists.length, 1)
  }
})

t.test('the back-off resets after a working watch', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
  script.lastWatch.bookmark('5')
  script.lastWatch.end()
  await eventually(() => script.watches.length === 3)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
})

t.test('a retryAfterSeconds below the back-off is ignored', async (t) => {
  const { script, clock } = setUp(t)
  for (let i = 0; i < 3; i += 1) script.watchErrors.push(new ApiError(failure(429, 'TooManyRequests', 'busy', { retryAfterSeconds: 1 })))
  for (const pause of [1000, 1600, 3200]) {
    await eventually(() => clock.nextDue === clock.now() + pause)
    await clock.advance(pause)
  }
  await eventually(() => script.watches.length === 4)
})

t.test('a list clears errors of lists, not of watches', async (t) => {
  const { script, clock, log, reflector } = setUp(t)
  await eventually(() => script.watches.length === 1)
  script.answersWatches = false
  script.lastWatch.fail(status(500, 'InternalError'))
  await eventually(() => clock.nextDue === clock.now() + 800)
  await clock.advance(800)
  await eventually(() => script.watches.length === 2)
  t.equal(script.lists.length, 2)
  t.match(reflector.lastError, /^Cannot watch widgets\.example\.com/)
  t.equal(log.lines.length, 1)
})

t.test('a list that expires on its first page is repeated, and further expiry backs off', async (t) => {
  const { script, clock, seen } = setUp(t, {
    answers: [
      expired,
      { items: [object('a', 1)], resourceVersion: '5', continue: 'token' },
      expired,
      { items: [object('a', 1)], resourceVersion: '6', continue: 'token' },
      expired,
      expired,
      { items: [], resourceVersion: '9' },
    ],
  })
  await eventually(() => clock.nextDue === clock.now() + 1600)
  t.strictSame(
    script.lists.map(({ limit, continue: token }) => [limit, token]),
    [
      [500, undefined],
      [500, undefined],
      [500, 'token'],
      [500, undefined],
      [500, 'token'],
      [undefined, undefined],
    ],
  )
  await clock.advance(1600)
  await eventually(() => script.watches.length === 1)
  t.strictSame(seen, ['= ', 'synced'])
})

t.test('debug logs have the resource and the namespace', async (t) => {
  const { script, clock, log } = setUp(t, { level: 'debug', namespace: 'ns', answers: [{ items: [object('a', 1)], resourceVersion: '7' }] })
  await eventually(() => script.watches.length === 1)
  await clock.advance(2_000)
  script.lastWatch.end()
  await eventually(() => script.watches.length === 2)
  script.lastWatch.fail(expired)
  await eventually(() => script.watches.length === 3)
  script.watchErrors.push(unreachable)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 1600)
  await clock.advance(1600)
  await eventually(() => clock.nextDue === clock.now() + 3200)
  const where = { resource: 'widgets.example.com', watchedNamespace: 'ns' }
  const listed = { level: 'debug', ...where, objects: 1, resourceVersion: '7', msg: 'listed' }
  t.strictSame(log.entries, [
    listed,
    { level: 'debug', ...where, resourceVersion: '7', msg: 'the watch ended, watching on' },
    {
      level: 'debug',
      ...where,
      reason: 'the resourceVersion of widgets.example.com is too old: too old resource version: 1 (9)',
      msg: 'listing again',
    },
    listed,
    { level: 'warn', ...where, retryInMs: 1600, msg: 'Nothing answers at https://x.' },
    { level: 'debug', ...where, error: 'Nothing answers at https://x.', retryInMs: 3200, msg: 'Nothing answers at https://x.' },
  ])
})

t.test('objects of events are frozen, and no events follow the stop', async (t) => {
  const { script, seen, abort, running } = setUp(t)
  await eventually(() => script.watches.length === 1)
  const original = { ...object('a', 2), spec: { b: 1 } }
  script.lastWatch.send('ADDED', original)
  await eventually(() => script.lastWatch.drained)
  t.ok(Object.isFrozen(original.spec))
  script.lastWatch.send('ADDED', object('b', 3))
  abort.abort()
  await running
  t.strictSame(seen, ['= ', 'synced', 'ADDED a'])
})

t.test('a sink that throws causes a relist', async (t) => {
  const script = new ScriptedClient()
  const clock = new FakeClock()
  let changes = 0
  const reflector = new Reflector({
    client: script.client,
    type: widget,
    logger: recordingLogger().logger,
    clock,
    random: () => 0,
    sink: {
      listing: () => undefined,
      replace: async () => undefined,
      change: () => {
        changes += 1
        throw new Error('the sink broke')
      },
      synced: () => undefined,
    },
  })
  const abort = new AbortController()
  const running = reflector.run(abort.signal)
  await eventually(() => script.watches.length === 1)
  script.lastWatch.send('ADDED', object('a', 2))
  await eventually(() => reflector.lastError !== undefined)
  t.equal(reflector.lastError, 'Cannot watch widgets.example.com in all namespaces: the sink broke')
  await clock.untilPending()
  await clock.advance(800)
  await eventually(() => script.lists.length === 2)
  t.equal(changes, 1)
  abort.abort()
  await running
})

t.test('a watch that has ended leaves no timer', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1 && clock.pending === 2)
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
  t.equal(clock.pending, 1)
})

t.test('a watch that has ended leaves no timer, also after an event has postponed its time limit', async (t) => {
  const { script, clock } = setUp(t)
  await eventually(() => script.watches.length === 1 && clock.pending === 2)
  for (const version of [2, 3]) {
    await clock.advance(60_000)
    script.lastWatch.send('MODIFIED', object('a', version))
    await eventually(() => script.lastWatch.drained)
  }
  await clock.advance(60_000)
  t.notOk(script.lastWatch.ended)
  t.equal(clock.pending, 1, 'the time limit alone')
  script.lastWatch.fail(unreachable)
  await eventually(() => clock.nextDue === clock.now() + 800)
  t.equal(clock.pending, 1, 'the pause alone')
})

t.test('lists and watches end with the signal', async (t) => {
  const signals: (AbortSignal | undefined)[] = []
  const script = new ScriptedClient()
  const client = {
    list: (type: typeof widget, options: ListOptions) => {
      signals.push(options.signal)
      return script.list(type, options)
    },
    watch: (type: typeof widget, options: WatchOptions) => {
      signals.push(options.signal)
      return script.watch(type, options)
    },
  } as unknown as ScriptedClient['client']
  const sink = { listing: () => undefined, replace: async () => undefined, change: () => undefined, synced: () => undefined }
  const reflector = new Reflector({ client, type: widget, logger: recordingLogger().logger, clock: new FakeClock(), sink })
  const abort = new AbortController()
  const running = reflector.run(abort.signal)
  await eventually(() => script.watches.length === 1)
  t.strictSame(
    signals.map((signal) => signal?.aborted),
    [false, false],
  )
  abort.abort()
  await running
  t.strictSame(
    signals.map((signal) => signal?.aborted),
    [true, true],
  )
})
