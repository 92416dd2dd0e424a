import t from 'tap'
import type { Test } from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { ReviewedKind } from '../../../src/webhook/body/review-worker.ts'
import { ReviewThreads } from '../../../src/webhook/body/review-threads.ts'
import { webhook } from '../../../src/webhook/definition.ts'
import { reviewOfSpec, target } from '../../support/hostile-reviews.ts'

const forever = new AbortController().signal
const job = (spec: string) => ({
  webhook: 0,
  version: 'v1',
  verb: 'mutate' as const,
  bytes: new Uint8Array(Buffer.from(reviewOfSpec(spec))).buffer,
})

function threadsOf(t: Test, kinds: () => readonly ReviewedKind[] = () => [webhook(target)]): { threads: ReviewThreads; clock: FakeClock } {
  const clock = new FakeClock()
  const threads = new ReviewThreads(kinds, clock)
  t.teardown(() => threads.stop())
  return { threads, clock }
}

t.test('threads start with the first review and end when there are no more', async (t) => {
  const { threads, clock } = threadsOf(t)
  t.equal(threads.size, 0)
  const results = await Promise.all(Array.from({ length: 5 }, () => threads.review(job('{}'), forever)))
  t.same(
    results.map(({ allowed }) => allowed),
    Array(5).fill(true),
  )
  t.ok(threads.size >= 1 && threads.size <= 2)
  t.ok(results[0]!.bytes.byteLength > 0, 'the bytes come back')
  await clock.advance(9999)
  t.ok(threads.size > 0)
  await clock.advance(1)
  t.equal(threads.size, 0)
  t.match(await threads.review(job('{"labels":{"a":1}}'), forever), { allowed: false, code: 422, reason: 'Invalid', incomplete: false })
})

t.test('what is given up ends its thread, or leaves the queue', async (t) => {
  const { threads } = threadsOf(t)
  const controller = new AbortController()
  const given = Array.from({ length: 4 }, () => threads.review(job('{}'), controller.signal))
  controller.abort(new Error('too late'))
  for (const one of given) await t.rejects(one, { message: 'too late' })
  t.equal(threads.size, 0)
  t.match(await threads.review(job('{}'), forever), { allowed: true })
  await t.rejects(threads.review(job('{}'), controller.signal), { message: 'too late' })
})

t.test('a thread that fails fails its review alone', async (t) => {
  let kinds: readonly ReviewedKind[] = [{ kind: { versions: 7 } } as unknown as ReviewedKind]
  const { threads } = threadsOf(t, () => kinds)
  t.match(await threads.review(job('{}'), forever), { allowed: false, code: 500 })
  await threads.stop()
  kinds = undefined as unknown as readonly ReviewedKind[]
  await t.rejects(threads.review(job('{}'), forever))
  kinds = [webhook(target)]
  t.match(await threads.review(job('{}'), forever), { allowed: true })
})

t.test('ends with the server', async (t) => {
  const { threads } = threadsOf(t)
  const open = Array.from({ length: 4 }, () => threads.review(job('{}'), forever))
  const settled = Promise.allSettled(open)
  await threads.stop()
  t.ok((await settled).every(({ status }) => status === 'rejected'))
  t.equal(threads.size, 0)
})
