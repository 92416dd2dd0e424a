import t from 'tap'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { refreshingSource, servingCertificate } from '../../src/certs/serving-certificate.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('concurrent refreshes issue one leaf', async (t) => {
  const clock = new FakeClock()
  const authority = await issueAuthority(clock.now())
  const issue = async (): Promise<ReturnType<typeof servingCertificate>> => {
    const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
    return servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  }
  const initial = await issue()
  let issued = 0
  const source = refreshingSource(
    initial,
    async (current) => {
      if (current !== initial) return current
      issued += 1
      return issue()
    },
    { clock, logger: recordingLogger().logger },
  )
  const changes: string[] = []
  source.onChange(({ cert }) => changes.push(cert))
  await Promise.all([source.refresh(), source.refresh()])
  t.equal(issued, 1)
  t.strictSame(changes, [source.current().cert])
})

t.test('a failed refresh does not block the next one', async (t) => {
  const clock = new FakeClock()
  const authority = await issueAuthority(clock.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
  const initial = servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  const answers = [() => Promise.reject(new Error('the store is away')), () => Promise.resolve({ ...initial, caBundle: 'new' })]
  const source = refreshingSource(initial, () => answers.shift()!(), { clock, logger: recordingLogger().logger })
  const [first, second] = await Promise.allSettled([source.refresh(), source.refresh()])
  t.equal(first.status, 'rejected')
  t.equal(second.status, 'fulfilled')
  t.equal(source.current().caBundle, 'new')
})

t.test('a problem is logged once while it lasts, and again when it recurs', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  const authority = await issueAuthority(clock.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
  let isAway = true
  const source = refreshingSource(
    servingCertificate({ ...leaf, caBundle: authority.cert }, undefined),
    async (current) => (isAway ? Promise.reject(new Error('the store is away')) : current),
    { clock, logger },
  )
  const stop = new AbortController()
  const running = source.start(stop.signal)
  for (const away of [true, true, false, true, true]) {
    isAway = away
    await clock.advance(60_000)
  }
  stop.abort()
  await running
  const warning = `warn: serving the certificate that is valid until ${source.current().notAfter.toISOString()}: the store is away`
  t.strictSame(lines, [warning, warning])
})

t.test('an unchanged certificate is the same object, and listeners are not called', async (t) => {
  const clock = new FakeClock()
  const authority = await issueAuthority(clock.now())
  const [leaf, other] = [
    await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() }),
    await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() }),
  ]
  const pair = { ...leaf, caBundle: authority.cert }
  const first = servingCertificate(pair, undefined)
  t.strictSame(first, { ...pair, notAfter: new Date('2026-01-08T00:00:00Z') })
  t.equal(servingCertificate({ ...pair }, first), first)
  for (const change of [{ cert: other.cert }, { key: other.key }, { caBundle: 'more' }])
    t.strictSame(servingCertificate({ ...pair, ...change }, first), { ...first, ...change })
  let next = first
  const { logger, entries } = recordingLogger()
  const source = refreshingSource(first, async (current) => (t.equal(current, source.current()), next), { clock, logger })
  const notified: unknown[] = []
  const failure = new Error('no room')
  source.onChange(() => {
    throw failure
  })
  const unsubscribe = source.onChange((certificate) => notified.push(certificate))
  await source.refresh()
  t.strictSame(notified, [])
  next = { ...first }
  await source.refresh()
  t.equal(notified.length, 1)
  t.equal(notified[0], next)
  t.match(entries, [{ level: 'error', msg: 'a listener for certificate changes failed', err: { message: 'no room' } }])
  unsubscribe()
  next = { ...first }
  await source.refresh()
  t.equal(source.current(), next)
  t.equal(notified.length, 1, 'a removed listener is not called')
})

t.test('the source refreshes at once and each minute, until it is stopped', async (t) => {
  const clock = new FakeClock()
  const initial = { cert: '', key: '', caBundle: '', notAfter: new Date(clock.now()) }
  const signals: (AbortSignal | undefined)[] = []
  const source = refreshingSource(
    initial,
    async (current, signal) => {
      signals.push(signal)
      return current
    },
    { clock, logger: recordingLogger().logger },
  )
  const { signal: outer } = new AbortController()
  await source.refresh(outer)
  t.equal(signals.pop(), outer)
  const stop = new AbortController()
  const running = source.start(stop.signal)
  await clock.untilPending()
  t.strictSame(signals, [stop.signal])
  await clock.advance(59_999)
  t.equal(signals.length, 1)
  await clock.advance(1)
  t.equal(signals.length, 2)
  stop.abort()
  await running
  t.equal(clock.pending, 0)
  await source.start(stop.signal)
  t.equal(signals.length, 2, 'stopped before the start')
})

t.test('an expired certificate is served with an error log', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  const initial = { cert: '', key: '', caBundle: '', notAfter: new Date(clock.now() + 120_000) }
  const source = refreshingSource(initial, () => Promise.reject(new Error('the store is away')), { clock, logger })
  const stop = new AbortController()
  const running = source.start(stop.signal)
  await clock.advance(60_000)
  const warning = 'warn: serving the certificate that is valid until 2026-01-01T00:02:00.000Z: the store is away'
  t.strictSame(lines, [warning])
  await clock.advance(60_000)
  t.strictSame(lines, [warning, 'error: serving an expired certificate: the store is away'])
  stop.abort()
  await running
})

t.test('a check that the stop aborts is not logged as a problem', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger('debug')
  const initial = { cert: '', key: '', caBundle: '', notAfter: new Date(clock.now() + 1000) }
  const check = (_current: unknown, signal?: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)))
  const stop = new AbortController()
  const running = refreshingSource(initial, check, { clock, logger }).start(stop.signal)
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  await running
  t.strictSame(lines, [])
})
