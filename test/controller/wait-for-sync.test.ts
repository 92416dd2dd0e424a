import t from 'tap'
import { node } from '../../src/api/builtin.ts'
import { whenAllSynced } from '../../src/controller/wait-for-sync.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { FakeInformer, part, thing } from '../support/controller/fakes.ts'

t.test('unsynced types are logged after 5 s, and then each minute', async (t) => {
  const clock = new FakeClock()
  const { logger, entries } = recordingLogger('debug')
  const informers = [thing, part, node].map((type) => new FakeInformer(type))
  const all = whenAllSynced(informers, { clock, logger }, new AbortController().signal)
  informers[1]!.sync()
  await clock.advance(4_999)
  t.strictSame(entries, [])
  await clock.advance(1)
  const of = (...missing: string[]): object => ({
    level: 'warn',
    missing,
    msg: `still waiting for the first list of ${missing.join(', ')}: is the CustomResourceDefinition installed, and may this user list and watch it?`,
  })
  t.strictSame(entries, [of('things.example.com', 'nodes')])
  informers[0]!.sync()
  await clock.advance(59_999)
  t.equal(entries.length, 1)
  await clock.advance(1)
  t.strictSame(entries.slice(1), [of('nodes')])
  await clock.advance(60_000)
  t.equal(entries.length, 3)
  informers[2]!.sync()
  t.equal(await all, true)
  t.equal(clock.pending, 0)
})

t.test('a stop ends the wait, before, during or with the last list', async (t) => {
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
