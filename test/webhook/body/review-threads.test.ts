import t from 'tap'
import type { Test } from 'tap'
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { ReviewThreads } from '../../../src/webhook/body/review-threads.ts'
import type { CombinedWebhook } from '../../../src/webhook/combine.ts'
import { combineWebhooks } from '../../../src/webhook/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition.ts'
import { reviewOfSpec, target } from '../../support/hostile-reviews.ts'

const definition = { group: target.group, kind: target.kind }
const forever = new AbortController().signal
const [targets] = combineWebhooks([defineWebhook(target)]) as [CombinedWebhook]
const job = (spec: string, about = targets) => ({
  webhook: about,
  verb: 'mutate' as const,
  completes: false,
  bytes: new Uint8Array(Buffer.from(reviewOfSpec(spec))).buffer,
})

function threadsOf(t: Test, webhooks: readonly CombinedWebhook[] = [targets]): { threads: ReviewThreads; clock: FakeClock } {
  const clock = new FakeClock()
  const threads = new ReviewThreads(webhooks, clock)
  t.teardown(() => threads.stop())
  return { threads, clock }
}

t.test('threads start with the first review and end when there are no more', async (t) => {
  const { threads, clock } = threadsOf(t)
  t.equal(threads.size, 0)
  const results = await Promise.all(Array.from({ length: 5 }, () => threads.review(job('{}'), forever)))
  t.strictSame(
    results.map(({ allowed }) => allowed),
    Array(5).fill(true),
  )
  t.ok(threads.size >= 1 && threads.size <= 2)
  t.ok(results[0]!.bytes.byteLength > 0, 'the bytes come back')
  await clock.advance(9999)
  t.ok(threads.size > 0)
  await clock.advance(1)
  t.equal(threads.size, 0)
  t.match(await threads.review(job('{"labels":{"a":1}}'), forever), {
    allowed: false,
    refused: { code: 422, reason: 'Invalid', causes: 1 },
  })
})

t.test('whatever is large is moved between threads, and not copied', async (t) => {
  const item = Type.Object({ name: Type.String(), weight: Type.Integer({ default: 1 }) })
  const spec = Type.Object({ items: Type.Array(item), pod: Type.Builtin('PodSpec') })
  const kind = defineKind({ ...definition, versions: [{ name: 'v1', spec }] })
  const [webhooks] = combineWebhooks([defineWebhook(kind)]) as [CombinedWebhook]
  const { threads } = threadsOf(t, [webhooks])
  const items = Array.from({ length: 5000 }, (_, index) => `{"name":"n${index}"}`).join()
  const review = `{"items":[${items}],"pod":{"containers":[{"name":"a"}],"unknown":1}}`
  for (const completes of [false, true]) {
    const { bytes, answer, defaulted, ...rest } = await threads.review({ ...job(review, webhooks), completes }, forever)
    for (const buffer of [bytes, answer, defaulted?.object, defaulted?.patch]) {
      t.ok(buffer === undefined || (buffer instanceof ArrayBuffer && buffer.byteLength > 50_000))
    }
    t.match(rest, { allowed: true, patch: { operations: 5000 }, warnings: ['unknown field "spec.pod.unknown"'] })
    t.ok(JSON.stringify(rest).length < 500, 'the rest is short')
    t.equal(defaulted !== undefined, completes)
  }
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

t.test('a review that fails in its thread fails alone', async (t) => {
  const broken = { ...targets, schemaKind: { versions: 7 } } as unknown as CombinedWebhook
  const { threads } = threadsOf(t, [broken, targets])
  t.match(await threads.review(job('{}', broken), forever), { allowed: false, refused: { code: 500 } })
  t.match(await threads.review(job('{}'), forever), { allowed: true })
})

t.test('a thread knows the built-in types that a kind embeds', async (t) => {
  const kind = defineKind({ ...definition, versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }] })
  const [webhooks] = combineWebhooks([defineWebhook(kind)]) as [CombinedWebhook]
  const { threads } = threadsOf(t, [webhooks])
  t.match(await threads.review(job('{"pod":{"containers":[{"name":"a"}]}}', webhooks), forever), { allowed: true })
  const wrong = await threads.review(job('{"pod":{"containers":[{"nam":1}]}}', webhooks), forever)
  t.match(wrong, { allowed: false, refused: { code: 422 } })
  t.match(Buffer.from(wrong.answer!).toString(), /spec\.pod\.containers\[0\]\.name/)
})

t.test('ends with the server', async (t) => {
  const { threads } = threadsOf(t)
  const open = Array.from({ length: 4 }, () => threads.review(job('{}'), forever))
  const settled = Promise.allSettled(open)
  await threads.stop()
  t.ok((await settled).every(({ status }) => status === 'rejected'))
  t.equal(threads.size, 0)
})
