import t from 'tap'
import { node } from '../../src/api/builtin.ts'
import { whenAllSynced } from '../../src/controller/sync.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/cache-log.ts'
import { FakeInformer, part, thing } from '../support/controller-fakes.ts'

t.test('what is waited for is said after 5 s, and each minute from then on', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  const informers = [thing, part, node].map((type) => new FakeInformer(type))
  const all = whenAllSynced(informers, { clock, logger }, new AbortController().signal)
  informers[1]!.sync()
  await clock.advance(4_999)
  t.strictSame(lines, [])
  await clock.advance(1)
  const of = (...missing: string[]): object => ({
    level: 'warn',
    missing,
    msg: `still waiting for the first list of ${missing.join(', ')}: is the CustomResourceDefinition installed, and may this user list and watch it?`,
  })
  t.strictSame(lines, [of('things.example.com', 'nodes')])
  informers[0]!.sync()
  await clock.advance(59_999)
  t.equal(lines.length, 1)
  await clock.advance(1)
  t.strictSame(lines.slice(1), [of('nodes')])
  await clock.advance(60_000)
  t.equal(lines.length, 3)
  informers[2]!.sync()
  t.equal(await all, true)
  t.equal(clock.pending, 0)
})

t.test('a stop ends the wait, whether it comes before, meanwhile or with the last list', async (t) => {
  const clock = new FakeClock()
  const { logger } = recordingLogger()
  const abort = new AbortController()
  const waiting = whenAllSynced([new FakeInformer(thing)], { clock, logger }, abort.signal)
  abort.abort(new Error('enough'))
  t.equal(await waiting, false)
  const synced = new FakeInformer(thing)
  synced.sync()
  t.equal(await whenAllSynced([synced], { clock, logger }, abort.signal), false)
  t.equal(clock.pending, 0)
})

t.test('an informer that fails is an error', async (t) => {
  const clock = new FakeClock()
  const informer = Object.assign(new FakeInformer(thing), { whenSynced: () => Promise.reject(new Error('broken')) })
  const waiting = whenAllSynced([informer], { clock, logger: recordingLogger().logger }, new AbortController().signal)
  await t.rejects(waiting, new Error('broken'))
  t.equal(clock.pending, 0)
})
