import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import { ApiError } from '../../src/client/api-error.ts'
import { failure } from '../../src/api/status.ts'
import { ProreusError } from '../../src/api/errors.ts'
import type { LeaderElectorOptions, Term } from '../../src/leader-election/leader-elector.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import { LeaderElector } from '../../src/leader-election/leader-elector.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import type { Network } from '../support/leader-election/lease-server.ts'
import { direct, LeaseServer } from '../support/leader-election/lease-server.ts'

interface Replica {
  readonly elector: LeaderElector
  readonly network: Network
  readonly log: Record<string, unknown>[]
  readonly events: string[]
  readonly metrics: { leads: boolean; slowpaths: number }
  /** The terms of this replica as leader, the oldest first. */
  readonly terms: Term[]
  readonly stop: AbortController
  leads(): boolean
  end(): Promise<void>
}

const start = new Date('2026-01-01T00:00:00Z')

interface World {
  readonly server: LeaseServer
  readonly clock: FakeClock
  replica(identity: string, options?: Partial<LeaderElectorOptions>): Promise<Replica>
}

function world(t: Test): World {
  const server = new LeaseServer()
  const clock = new FakeClock(start.getTime())
  const replica: World['replica'] = async (identity, options = {}) => {
    const network = direct()
    const { logger, entries } = recordingLogger('debug')
    const metrics = { leads: false, slowpaths: 0 }
    const events: string[] = []
    const elector = new LeaderElector({
      client: server.client(network),
      lease: { namespace: 'ns', name: 'it' },
      identity,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      clock,
      logger,
      events: { event: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      metrics: { leading: (leads) => void (metrics.leads = leads), slowpath: () => void (metrics.slowpaths += 1) },
      random: () => 0,
      ...options,
    })
    const stop = new AbortController()
    const terms: Term[] = []
    const collect = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const term = await elector.term(stop.signal).catch(() => undefined)
        if (term === undefined) return
        terms.push(term)
        if (!term.lost.aborted) await new Promise<void>((resolve) => term.lost.addEventListener('abort', () => resolve()))
      }
    }
    const collecting = collect()
    const running = elector.run(stop.signal)
    await clock.advance(0)
    const end = async (): Promise<void> => {
      stop.abort()
      await running
      await collecting
    }
    t.teardown(end)
    const leads = (): boolean => {
      try {
        elector.guard()
        return true
      } catch {
        return false
      }
    }
    return { elector, network, log: entries, events, metrics, terms, stop, leads, end }
  }
  return { server, clock, replica }
}

const cutOff: Network['carry'] = () => Promise.reject(new ProreusError('PRO_API_UNREACHABLE', 'the network is down'))

t.test('the first replica creates the Lease and leads', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a', { lease: { namespace: 'ns', name: 'it', labels: { team: 'x' } } })
  t.strictSame(server.lease?.spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  })
  t.match(server.lease?.metadata, { namespace: 'ns', name: 'it', labels: { team: 'x' } })
  t.ok(a.leads())
  t.equal(a.terms.length, 1)
  t.equal(a.elector.leader, 'a')
  t.strictSame(a.events, ['Normal LeaderElection a became leader'])
  t.ok(a.metrics.leads)
  await clock.advance(60_000)
  t.ok(a.leads())
  t.equal(a.terms.length, 1, 'renewals extend the same term')
  t.match(server.lease?.spec, { acquireTime: '2026-01-01T00:00:00.000000Z', renewTime: '2026-01-01T00:01:00.000000Z', leaseTransitions: 0 })
  t.strictSame(server.received.filter((verb) => verb === 'get').length, 1, 'the leader does not read before it renews')
})

t.test('a second replica stands by, and its requests are refused', async (t) => {
  const { server, clock, replica } = world(t)
  await replica('a')
  const b = await replica('b')
  await clock.advance(120_000)
  t.notOk(b.leads())
  t.throws(() => b.elector.guard(), { code: 'PRO_ABORTED', message: /not the leader/ })
  t.strictSame(b.terms, [])
  t.equal(b.elector.leader, 'a')
  t.strictSame(
    b.log.map(({ msg, leader }) => [msg, leader]),
    [['another replica is the leader', 'a']],
  )
  t.equal(server.received.filter((verb) => verb === 'get').length, 2, 'a candidate that watches does not poll')
})

t.test('a candidate takes the lease when it has seen no renewal for the duration in the record', async (t) => {
  const { server, clock, replica } = world(t)
  // The clock of the holder is an hour ahead. The lease durations of the holder and of the candidate differ.
  server.put({
    holderIdentity: 'gone',
    leaseDurationSeconds: 20,
    renewTime: '2026-01-01T01:00:00.000000Z',
    leaseTransitions: 3,
    strategy: 'Other',
  })
  const b = await replica('b')
  await clock.advance(19_999)
  t.notOk(b.leads())
  await clock.advance(1)
  t.ok(b.leads())
  t.strictSame(server.lease?.spec, {
    holderIdentity: 'b',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:20.000000Z',
    renewTime: '2026-01-01T00:00:20.000000Z',
    leaseTransitions: 4,
    strategy: 'Other',
  })
})

t.test('a record without a duration is valid for the own duration', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'gone' })
  const b = await replica('b')
  await clock.advance(14_999)
  t.notOk(b.leads())
  await clock.advance(1)
  t.ok(b.leads())
})

t.test('a record with invalid fields is valid for the own duration', async (t) => {
  for (const invalid of [
    { leaseDurationSeconds: '20' },
    { leaseDurationSeconds: {} },
    { leaseDurationSeconds: -1, leaseTransitions: 7n },
  ]) {
    const { server, clock, replica } = world(t)
    server.put({ holderIdentity: 'gone', ...(invalid as object) })
    const b = await replica('b')
    await clock.advance(14_999)
    t.notOk(b.leads())
    await clock.advance(1)
    t.ok(b.leads())
    t.equal(server.lease?.spec?.leaseTransitions, 1)
    await b.end()
  }
})

t.test('a Lease whose duration exceeds 2^53 is not free, and the candidate waits without failing', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', ...({ leaseDurationSeconds: 9_223_372_036_854_775_807n } as object) })
  const b = await replica('b')
  await clock.advance(86_400_000)
  t.notOk(b.leads())
  server.put({ holderIdentity: '' })
  await clock.advance(0)
  t.ok(b.leads())
  await b.end()
})

t.test('a Lease whose spec is null is free', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({})
  Object.assign(server.lease!, { spec: null })
  const b = await replica('b')
  await clock.advance(2_000)
  t.ok(b.leads())
  await b.end()
})

t.test('a change of labels does not renew a record', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'gone', leaseDurationSeconds: 15 })
  const b = await replica('b')
  await clock.advance(10_000)
  server.put(server.lease?.spec, { labels: { a: 'b' } })
  await clock.advance(5_000)
  t.ok(b.leads())
})

t.test('without a watch, a candidate polls, and takes the lease when it expires', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'gone', leaseDurationSeconds: 15 })
  const client = {
    ...server.client(),
    watch: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('refused')) }) }),
  }
  const b = await replica('b', { client: client as unknown as LeaderElectorOptions['client'] })
  await clock.advance(8_000)
  t.equal(server.received.length, 5)
  await clock.advance(8_000)
  t.ok(b.leads())
  t.match(b.log[0], { level: 'debug', error: 'refused' })
})

t.test('a candidate whose watch has broken off polls at once, and takes a released lease at the next poll', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
  const client = server.client()
  const broken = Promise.withResolvers<never>()
  let watches = 0
  async function* watchOnce(...[, { onOpen }]: Parameters<typeof client.watch>): AsyncGenerator<never> {
    watches += 1
    if (watches === 1) onOpen?.()
    yield await broken.promise
  }
  const b = await replica('b', { client: { ...client, watch: watchOnce as unknown as typeof client.watch } })
  await clock.advance(1_000)
  const reads = server.received.length
  broken.reject(new Error('cut off'))
  await clock.advance(0)
  t.equal(server.received.length, reads + 1)
  server.put({ holderIdentity: '', leaseDurationSeconds: 1 })
  await clock.advance(2_000)
  t.ok(b.leads())
})

t.test('a leader that cannot renew ends its term after the renew deadline, stands by, and leads again', async (t) => {
  const { clock, replica } = world(t)
  const a = await replica('a')
  a.network.carry = cutOff
  await clock.advance(9_999)
  t.ok(a.leads())
  await clock.advance(1)
  t.notOk(a.leads())
  t.notOk(a.metrics.leads)
  t.ok(a.terms[0]?.lost.aborted)
  t.match(a.terms[0]?.lost.reason, {
    code: 'PRO_ABORTED',
    message: 'This replica is no longer the leader: the lease was not renewed in time.',
  })
  t.match(
    a.log.filter(({ level }) => level === 'warn'),
    [{ msg: 'the lease it cannot be renewed, trying again' }, { msg: 'no longer the leader: the lease was not renewed in time' }],
    'a failure that repeats is logged once',
  )
  a.network.carry = direct().carry
  await clock.advance(3_000)
  t.ok(a.leads())
  t.equal(a.terms.length, 2)
})

t.test('the term counts from the time at which the renewal was sent', async (t) => {
  const { clock, replica } = world(t)
  const a = await replica('a')
  const held = Promise.withResolvers<void>()
  a.network.carry = async (action) => {
    const result = action()
    await held.promise
    return result
  }
  await clock.advance(2_000) // the renewal is sent, and its response arrives after seven seconds
  a.network.carry = async (action) => {
    await held.promise
    return action()
  }
  await clock.advance(7_000)
  held.resolve()
  await clock.advance(0)
  a.network.carry = cutOff
  await clock.advance(2_999)
  t.ok(a.leads())
  await clock.advance(1)
  t.notOk(a.leads(), 'ten seconds after it was sent')
})

t.test('an answer that arrives after the renew deadline begins no term', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  await a.end()
  const b = await replica('b')
  const held = Promise.withResolvers<void>()
  b.network.carry = async (action, verb) => {
    const result = action()
    if (verb === 'update') await held.promise
    return result
  }
  await clock.advance(15_000)
  t.equal(server.lease?.spec?.holderIdentity, 'b', 'the lease of a has expired, and b has taken it')
  await clock.advance(10_000)
  b.network.carry = cutOff
  held.resolve()
  await clock.advance(0)
  t.strictSame(b.terms, [])
  t.notOk(b.leads())
})

t.test('a machine that was suspended is not the leader when it wakes up', async (t) => {
  const { clock, replica } = world(t)
  const a = await replica('a')
  clock.set(start.getTime() + 11_000) // the system time jumps, but the monotonic time stands still, so no timer fires
  t.notOk(a.leads())
  t.ok(a.terms[0]?.lost.aborted)
})

t.test('a clock that is set back does not make a term longer', async (t) => {
  const { clock, replica } = world(t)
  const a = await replica('a')
  a.network.carry = cutOff
  clock.set(start.getTime() - 3_600_000)
  await clock.advance(10_000)
  t.notOk(a.leads())
})

t.test('a term whose timer is late ends by either clock', async (t) => {
  for (const [monotonicMs, wallMs] of [
    [10_000, -3_600_000],
    [0, 10_000],
  ] as const) {
    const { clock, replica } = world(t)
    let late = false
    const skewed: Clock = {
      now: () => clock.now() + (late ? wallMs : 0),
      monotonicNow: () => clock.monotonicNow() + (late ? monotonicMs : 0),
      after: (ms, callback) => clock.after(ms, callback),
    }
    const a = await replica('a', { clock: skewed })
    t.ok(a.leads())
    late = true
    t.notOk(a.leads())
    t.ok(a.terms[0]?.lost.aborted)
  }
})

t.test('a leader that finds another holder ends its term at once', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  server.put({ ...server.lease?.spec, holderIdentity: 'thief' })
  await clock.advance(2_000)
  t.notOk(a.leads())
  t.match(a.terms[0]?.lost.reason, { message: /thief has taken the lease/ })
  t.equal(server.lease?.spec?.holderIdentity, 'thief')
})

t.test('a leader renews a Lease that somebody has labelled', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  server.put(server.lease?.spec, { labels: { a: 'b' } })
  await clock.advance(2_000)
  t.equal(server.lease?.spec?.renewTime, '2026-01-01T00:00:02.000000Z', 'at the first attempt')
  t.strictSame(server.lease?.metadata.labels, { a: 'b' })
  t.equal(a.metrics.slowpaths, 1)
  t.equal(a.terms.length, 1)
})

t.test('a deleted Lease is created again by its leader, and not by a candidate', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  const b = await replica('b')
  server.delete()
  await clock.advance(1_999)
  t.equal(server.lease, undefined)
  t.notOk(b.leads())
  await clock.advance(1)
  t.equal(server.lease?.spec?.holderIdentity, 'a')
  t.ok(a.leads())
  t.equal(a.terms.length, 1)
})

t.test('a candidate creates a deleted Lease when the last record has expired', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  const b = await replica('b')
  await a.end()
  server.delete()
  await clock.advance(14_999)
  t.notOk(b.leads())
  await clock.advance(1)
  t.ok(b.leads())
})

t.test('a deleted Lease is waited for no longer than the own lease duration, whatever its duration was', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'ghost', leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' })
  const a = await replica('a')
  await clock.advance(60_000)
  t.notOk(a.leads(), 'the Lease exists')
  server.delete()
  await clock.advance(2_400)
  t.ok(a.leads())
})

t.test('a replica that reads that the Lease is gone waits no longer than the own lease duration, either', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'ghost', leaseDurationSeconds: 3600, renewTime: '2026-01-01T00:00:00.000000Z' })
  const carry: Network['carry'] = async (action, verb) => {
    if (verb === 'watch') throw new Error('no watches')
    return action()
  }
  const client = server.client({ carry, watches: false })
  const a = await replica('a', { client })
  await clock.advance(60_000)
  t.notOk(a.leads(), 'the Lease exists')
  server.delete()
  await clock.advance(4_400)
  t.ok(a.leads())
})

t.test('the number of transitions ends at the largest int32', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({
    holderIdentity: 'ghost',
    leaseDurationSeconds: 1,
    leaseTransitions: 2_147_483_647,
    renewTime: '2026-01-01T00:00:00.000000Z',
  })
  const a = await replica('a')
  await clock.advance(4_000)
  t.ok(a.leads())
  t.equal(server.lease?.spec?.leaseTransitions, 2_147_483_647)
})

t.test('a renewal that takes half of the renew deadline is tried again before the term ends', async (t) => {
  const { server, clock, replica } = world(t)
  const client = server.client()
  let isBusy = false
  const update = (...args: Parameters<typeof client.update>): ReturnType<typeof client.update> => {
    if (!isBusy) return client.update(...args)
    isBusy = false
    // Imitates the transport after a 503 with a Retry-After of 10 s: the request waits until the signal aborts.
    return new Promise((_, reject) => args[2]?.signal?.addEventListener('abort', () => reject(args[2]!.signal!.reason as Error)))
  }
  const a = await replica('a', { client: { ...client, update } as typeof client })
  isBusy = true
  await clock.advance(30_000)
  t.ok(a.leads())
  t.equal(a.terms.length, 1)
  t.match(a.log.filter(({ level }) => level === 'warn' || level === 'error').length, 1)
})

t.test('a leader that resigns releases the lease, and a candidate takes it at once', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  const b = await replica('b')
  await a.elector.resign()
  t.notOk(a.leads())
  t.ok(a.terms[0]?.lost.aborted)
  await clock.advance(0)
  t.ok(b.leads())
  t.equal(server.lease?.spec?.leaseTransitions, 1)
  t.strictSame(
    a.log.map(({ msg }) => msg),
    ['became the leader', 'no longer the leader: it stops', 'released the lease'],
  )
  t.strictSame([...new Set(a.log.map(({ level }) => level))], ['info'], 'a voluntary end is no warning')
  await clock.advance(60_000)
  t.notOk(a.leads(), 'it stands for election no more')
})

t.test('a watch of the Lease that is silent for three retry periods is replaced, so that a release is not missed', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  const b = await replica('b')
  const watches = (): number => server.received.filter((verb) => verb === 'watch').length
  await clock.advance(60_000)
  t.equal(watches(), 2, 'each renewal is an event')
  b.network.watches = false
  await clock.advance(6_000)
  t.equal(watches(), 2)
  await clock.advance(2_000)
  t.equal(watches(), 3)
  b.network.watches = true
  await a.elector.resign()
  await clock.advance(0)
  t.ok(b.leads())
  await a.end()
  await b.end()
  t.equal(clock.pending, 0)
})

t.test('a released lease has no holder, and the shortest duration', async (t) => {
  const { server, clock, replica } = world(t)
  const a = await replica('a')
  await clock.advance(2_000)
  await a.elector.resign()
  t.strictSame(server.lease?.spec, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: '2026-01-01T00:00:02.000000Z',
    renewTime: '2026-01-01T00:00:02.000000Z',
    leaseTransitions: 0,
  })
})

t.test('a replica that does not lead releases nothing', async (t) => {
  const { server, replica } = world(t)
  await replica('a')
  const b = await replica('b')
  const before = server.received.length
  await b.elector.resign()
  t.equal(server.lease?.spec?.holderIdentity, 'a')
  t.equal(server.received.length, before, 'it sends no request')
})

t.test('the lease of another holder is not released', async (t) => {
  const { server, replica } = world(t)
  const a = await replica('a')
  server.put({ ...server.lease?.spec, holderIdentity: 'thief' })
  await a.elector.resign()
  t.equal(server.lease?.spec?.holderIdentity, 'thief')
})

t.test('a lease that cannot be released is logged', async (t) => {
  const { replica } = world(t)
  const a = await replica('a')
  a.network.carry = cutOff
  await a.elector.resign()
  t.match(a.log.at(-1), { level: 'warn', msg: /was not released.*until it expires/, err: { code: 'PRO_API_UNREACHABLE' } })
})

t.test('a lease whose holder is changed on the way begins no term', async (t) => {
  const { server, clock, replica } = world(t)
  const put = server.put.bind(server)
  server.put = (spec, metadata) => put({ ...spec, holderIdentity: 'set by a webhook' }, metadata)
  const a = await replica('a')
  await clock.advance(5_000)
  t.notOk(a.leads())
})

t.test('a missing permission is logged with advice', async (t) => {
  const { clock, replica } = world(t)
  const refuse = (): Promise<never> => Promise.reject(new ApiError(failure(403, 'Forbidden', 'leases is forbidden')))
  const client = { get: refuse, create: refuse, update: refuse, watch: () => refuse } as unknown as LeaderElectorOptions['client']
  const a = await replica('a', { client })
  await clock.advance(10_000)
  t.match(
    a.log.filter(({ level }) => level === 'warn'),
    [{ msg: /the lease it cannot be acquired.*verbs get, create, update and watch on leases\.coordination\.k8s\.io in the namespace ns/ }],
  )
})

t.test('a missing namespace is logged with advice', async (t) => {
  const { server, clock, replica } = world(t)
  const create = () => Promise.reject(new ApiError(failure(404, 'NotFound', 'namespaces "ns" not found')))
  const a = await replica('a', { client: { ...server.client(), create } as unknown as LeaderElectorOptions['client'] })
  await clock.advance(5_000)
  t.match(
    a.log.filter(({ level }) => level === 'warn'),
    [{ msg: /the lease it cannot be acquired.*the namespace ns must exist: create it, or choose another one/ }],
  )
})

t.test('a candidate that waits for long leaves nothing behind after each pause', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', leaseDurationSeconds: 3600 })
  const { get, ...others } = server.client()
  let signal: AbortSignal | undefined
  const client = {
    ...others,
    get: (...request: Parameters<typeof get>) => {
      signal = request[2]?.signal
      return get(...request)
    },
    watch: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('refused')) }) }),
  }
  const b = await replica('b', { client: client as unknown as LeaderElectorOptions['client'] })
  await clock.advance(10_000)
  const [listeners, timers] = [getEventListeners(signal!, 'abort').length, clock.pending]
  await clock.advance(100_000)
  t.ok(server.received.length > 50, 'it has paused many times')
  t.equal(getEventListeners(signal!, 'abort').length, listeners)
  t.equal(clock.pending, timers)
  t.notOk(b.leads())
})

t.test('a caller that no longer waits for a term leaves nothing behind', async (t) => {
  const { replica } = world(t)
  await replica('a')
  const b = await replica('b')
  const abort = new AbortController()
  const waiting = b.elector.term(abort.signal)
  abort.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  await t.rejects(b.elector.term(abort.signal), { message: 'enough' })
})

t.test('a term that begins leaves no listener on the signal of a caller that has waited for it', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
  const b = await replica('b')
  const { signal } = new AbortController()
  const waiting = b.elector.term(signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  await clock.advance(15_000)
  t.notOk((await waiting).lost.aborted)
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('an elector that stops leaves no timer behind', async (t) => {
  const { clock, replica } = world(t)
  const a = await replica('a')
  const b = await replica('b')
  await a.end()
  await b.end()
  t.equal(clock.pending, 0)
})

t.test('the elector ends when its watch has ended', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
  const client = server.client()
  const closed = Promise.withResolvers<void>()
  async function* slowToClose(...[type, options]: Parameters<typeof client.watch>) {
    try {
      yield* client.watch(type, options)
    } finally {
      await closed.promise
    }
  }
  const b = await replica('b', { client: { ...client, watch: slowToClose as unknown as typeof client.watch } })
  let hasEnded = false
  const ended = b.end().then(() => (hasEnded = true))
  await clock.advance(1_000)
  t.equal(hasEnded, false)
  closed.resolve()
  await ended
})

t.test('a candidate that stops while it acquires the lease releases it', async (t) => {
  const { server, clock, replica } = world(t)
  server.put({ holderIdentity: 'other', leaseDurationSeconds: 15 })
  const b = await replica('b')
  const answered = Promise.withResolvers<void>()
  b.network.carry = async (action, verb) => {
    const result = await action()
    if (verb === 'update' && server.lease?.spec?.holderIdentity === 'b') await answered.promise
    return result
  }
  server.put({ holderIdentity: '' })
  await clock.advance(0)
  t.equal(server.lease?.spec?.holderIdentity, 'b')
  t.notOk(b.leads())
  const resigned = b.elector.resign()
  b.network.carry = async (action) => action()
  await resigned
  t.equal(server.lease?.spec?.holderIdentity, '')
  answered.resolve()
  await b.end()
})
