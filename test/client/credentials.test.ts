import t from 'tap'
import type { Credentials } from '../../src/client/credentials.ts'
import { CachedCredentials } from '../../src/client/credentials.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

function setUp(): { clock: FakeClock; loads: boolean[]; credentials: CachedCredentials } {
  const clock = new FakeClock()
  const loads: boolean[] = []
  const load = async (refresh: boolean): Promise<Credentials> => ({ authorization: `Bearer ${loads.push(refresh)}` })
  return { clock, loads, credentials: new CachedCredentials(load, { clock, maxAgeMs: 60_000 }) }
}

t.test('concurrent callers share one load, and old credentials are loaded again', async (t) => {
  const { clock, loads, credentials } = setUp()
  const all = await Promise.all([credentials.get(), credentials.get(), credentials.get()])
  t.strictSame(new Set(all.map(({ authorization }) => authorization)), new Set(['Bearer 1']))
  await clock.advance(59_999)
  t.equal((await credentials.get()).authorization, 'Bearer 1')
  await clock.advance(1)
  t.equal((await credentials.get()).authorization, 'Bearer 2')
  t.strictSame(loads, [false, false])
})

t.test('refused credentials are loaded again, but not for each refusal', async (t) => {
  const { clock, loads, credentials } = setUp()
  await credentials.get()
  t.equal((await credentials.get({ authorization: 'Bearer 1' })).authorization, 'Bearer 2')
  t.equal((await credentials.get({ authorization: 'Bearer 1' })).authorization, 'Bearer 2', 'refused before they were renewed')
  t.equal((await credentials.get({ authorization: 'Bearer 2' })).authorization, 'Bearer 2', 'refused again at once')
  t.strictSame(loads, [false, true])
  await clock.advance(9_999)
  t.equal((await credentials.get({ authorization: 'Bearer 2' })).authorization, 'Bearer 2', 'refused again within ten seconds')
  await clock.advance(1)
  t.equal((await credentials.get({ authorization: 'Bearer 2' })).authorization, 'Bearer 3')
  t.strictSame(loads, [false, true, true])
})

t.test('a refusal of credentials that have since been renewed because of their age loads nothing', async (t) => {
  const { clock, loads, credentials } = setUp()
  await credentials.get()
  await clock.advance(60_000)
  t.equal((await credentials.get()).authorization, 'Bearer 2')
  t.equal((await credentials.get({ authorization: 'Bearer 1' })).authorization, 'Bearer 2')
  t.strictSame(loads, [false, false])
})

t.test('a failure is not cached', async (t) => {
  let tries = 0
  const load = async (): Promise<Credentials> => {
    if (++tries === 1) throw new Error('plugin missing')
    return { authorization: 'Bearer x' }
  }
  const credentials = new CachedCredentials(load, { clock: new FakeClock(), maxAgeMs: 1 })
  await t.rejects(credentials.get(), new Error('plugin missing'))
  t.equal((await credentials.get()).authorization, 'Bearer x')
})

t.test('a failed load keeps the previous credentials, and does not affect a running load', async (t) => {
  const clock = new FakeClock()
  const answers = [Promise.resolve({ authorization: 'a' }), Promise.reject(new Error('gone')), Promise.resolve({ authorization: 'b' })]
  answers[1]!.catch(() => undefined)
  let loads = 0
  const credentials = new CachedCredentials(() => answers[loads++]!, { clock, maxAgeMs: 1000 })
  await credentials.get()
  await t.rejects(credentials.get({ authorization: 'a' }), new Error('gone'))
  t.strictSame(await credentials.get({ authorization: 'a' }), { authorization: 'a' }, 'loaded a moment ago')
  t.equal(loads, 2)
  await clock.advance(1000)
  t.strictSame(await credentials.get(), { authorization: 'b' })
})

t.test('the age of credentials counts from when they were loaded', async (t) => {
  const clock = new FakeClock()
  let loads = 0
  const load = async (): Promise<Credentials> => {
    if (loads === 0) await clock.advance(500)
    return { cert: `cert ${++loads}`, key: 'key' }
  }
  const credentials = new CachedCredentials(load, { clock, maxAgeMs: 1000 })
  t.strictSame(await credentials.get(), { cert: 'cert 1', key: 'key' })
  await clock.advance(999)
  t.strictSame(await credentials.get(), { cert: 'cert 1', key: 'key' })
  await clock.advance(1)
  t.strictSame(await credentials.get(), { cert: 'cert 2', key: 'key' })
})

t.test('a refused client certificate is loaded again, another one is not', async (t) => {
  let loads = 0
  const credentials = new CachedCredentials(async () => ({ cert: `cert ${++loads}`, key: 'key' }), {
    clock: new FakeClock(),
    maxAgeMs: 1000,
  })
  await credentials.get()
  t.equal((await credentials.get({ cert: 'cert 0' })).cert, 'cert 1')
  t.equal((await credentials.get({})).cert, 'cert 1')
  t.equal((await credentials.get({ cert: 'cert 1', key: 'key' })).cert, 'cert 2')
})

t.test('a refused header decides, although the certificate is the current one', async (t) => {
  let loads = 0
  const load = async (): Promise<Credentials> => ({ authorization: `Bearer ${++loads}`, cert: 'cert' })
  const credentials = new CachedCredentials(load, { clock: new FakeClock(), maxAgeMs: 1000 })
  await credentials.get()
  t.equal(await credentials.header('Bearer 0'), 'Bearer 1')
  t.equal((await credentials.get({ authorization: 'Bearer 0', cert: 'cert' })).authorization, 'Bearer 1')
  t.equal(await credentials.header('Bearer 1'), 'Bearer 2')
})

t.test('a load that hangs fails after a minute, and the next request loads again', async (t) => {
  const clock = new FakeClock()
  let loads = 0
  const load = (): Promise<Credentials> => (++loads === 1 ? new Promise(() => undefined) : Promise.resolve({ authorization: 'late' }))
  const credentials = new CachedCredentials(load, { clock, maxAgeMs: 1000 })
  const both = [credentials.get(), credentials.get()].map((each) =>
    t.rejects(each, { code: 'PRO_KUBECONFIG', message: 'The credentials were not loaded within 60 s.' }),
  )
  await clock.advance(60_000)
  await Promise.all(both)
  t.equal(loads, 1)
  t.equal(await credentials.header(), 'late')
})

t.test('if asked to, a failed load keeps the previous credentials in use', async (t) => {
  const clock = new FakeClock()
  let broken = true
  let loads = 0
  const load = async (): Promise<Credentials> => {
    loads += 1
    if (broken) throw new Error('replaced at this moment')
    return { authorization: `Bearer ${loads}` }
  }
  const credentials = new CachedCredentials(load, { clock, maxAgeMs: 1000, keepsPrevious: true })
  await t.rejects(credentials.get(), new Error('replaced at this moment'))
  broken = false
  t.equal(await credentials.header(), 'Bearer 2')
  broken = true
  await clock.advance(1000)
  t.equal(await credentials.header(), 'Bearer 2')
  broken = false
  t.equal(await credentials.header(), 'Bearer 4', 'the next request tries again')
})
