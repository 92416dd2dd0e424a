import { getEventListeners } from 'node:events'
import t from 'tap'
import { untilAborted } from '../../src/client/until-aborted.ts'

const unexpected = (): never => {
  throw new Error('nothing was to be discarded')
}

t.test('settles as the promise does, and leaves nothing on the signal', async (t) => {
  const { signal } = new AbortController()
  t.equal(await untilAborted(Promise.resolve(7), signal, unexpected), 7)
  await t.rejects(untilAborted(Promise.reject(new Error('broken')), signal, unexpected), new Error('broken'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(getEventListeners(signal, 'abort'), [])
})

t.test('rejects as soon as the signal aborts, and discards a value that comes later', async (t) => {
  const abort = new AbortController()
  const { promise, resolve } = Promise.withResolvers<number>()
  const discarded: number[] = []
  const result = untilAborted(promise, abort.signal, (value) => void discarded.push(value))
  abort.abort(new Error('enough'))
  await t.rejects(result, new Error('enough'))
  t.strictSame(discarded, [])
  resolve(7)
  await new Promise((done) => setImmediate(done))
  t.strictSame(discarded, [7])
  t.strictSame(getEventListeners(abort.signal, 'abort'), [])
})

t.test('rejects at once where the signal has aborted before', async (t) => {
  const { promise, reject } = Promise.withResolvers<number>()
  await t.rejects(untilAborted(promise, AbortSignal.abort(new Error('before')), unexpected), new Error('before'))
  reject(new Error('too late to be noticed'))
})
