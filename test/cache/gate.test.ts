import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { Gate } from '../../src/cache/gate.ts'

t.test('an open gate passes waiting and later callers', async (t) => {
  const gate = new Gate()
  const passed: string[] = []
  const waiting = [gate.passed().then(() => passed.push('a')), gate.passed(new AbortController().signal).then(() => passed.push('b'))]
  await Promise.resolve()
  t.strictSame(passed, [])
  gate.open()
  await Promise.all(waiting)
  t.strictSame(passed, ['a', 'b'])
  await t.resolves(gate.passed())
})

t.test('an aborted wait rejects with its reason, also when it comes aborted', async (t) => {
  const gate = new Gate()
  const abort = new AbortController()
  const waiting = t.rejects(gate.passed(abort.signal), new Error('enough'))
  abort.abort(new Error('enough'))
  await waiting
  await t.rejects(gate.passed(abort.signal), new Error('enough'))
})

t.test('aborted waits leak no memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const gate = new Gate()
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const giveUp = async (): Promise<void> => {
    const abort = new AbortController()
    const waiting = gate.passed(abort.signal)
    abort.abort()
    await waiting.catch(() => undefined)
  }
  for (let i = 0; i < 1_000; i += 1) await giveUp()
  const before = used()
  for (let i = 0; i < 20_000; i += 1) await giveUp()
  const each = (used() - before) / 20_000
  t.ok(each < 100, `${Math.round(each)} bytes for each`)
})

t.test('a wait that is over leaves no listener on its signal', async (t) => {
  const gate = new Gate()
  const { signal } = new AbortController()
  const waiting = gate.passed(signal)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  gate.open()
  await waiting
  await gate.passed(signal)
  t.strictSame(getEventListeners(signal, 'abort'), [])
  await t.rejects(gate.passed(AbortSignal.abort(new Error('enough'))), new Error('enough'), 'even when it is open')
})
