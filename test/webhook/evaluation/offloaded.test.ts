import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { CombinedWebhook } from '../../../src/webhook/definition/combine.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { OffloadedEvaluation } from '../../../src/webhook/evaluation/offloaded.ts'
import { ReviewThreads } from '../../../src/webhook/evaluation/review-threads.ts'
import type { Call } from '../../../src/webhook/handlers/call.ts'
import { hostileReviews, rulesReview, target } from '../../support/hostile/reviews.ts'
import { Turns } from '../../support/turns.ts'

t.setTimeout(300_000)

const [webhook] = combineWebhooks([defineWebhook(target)]) as [CombinedWebhook]
// Worker threads do not keep the process alive. In production, the listening server keeps the process alive; here, this timer does.
const running = setInterval(() => undefined, 1000)
t.teardown(() => clearInterval(running))

interface Target extends JsonObject {
  readonly metadata: JsonObject
  readonly spec: Record<'rules' | 'items' | 'labels' | 'open', never> & JsonObject
}

/**
 * Returns the processor time, in milliseconds, of the longest iteration of the event loop. The measurement begins when the handler has
 * returned, and ends when the worker thread has the changed object.
 */
async function longestTurn(t: Test, text: string, handler: (object: Target) => JsonObject): Promise<number> {
  const threads = new ReviewThreads({ webhooks: [webhook], clock: new FakeClock(), threads: 1 })
  t.teardown(() => threads.stop())
  const evaluation = new OffloadedEvaluation(Buffer.from(text), { threads, webhook: 0, verb: 'mutate' })
  await evaluation.begin({ signal: new AbortController().signal } as Call)
  const { object } = await evaluation.objects()
  const changed = handler(object as Target)
  await turn()
  const turns = new Turns()
  await turn()
  await evaluation.change(changed)
  // In production, `applyDefaultHandlers` freezes the object before it calls the next handler.
  deepFreeze(changed)
  await turn()
  const longest = turns.stop()
  await evaluation.answer({ allowed: true })
  evaluation.close()
  return longest
}

const reviews: Readonly<Record<string, string>> = {
  '500 rules with many labels each': rulesReview(5_000_000),
  '90,000 items': hostileReviews.find(({ name }) => name === 'a map of 90,000 items')!.text(),
  '400,000 labels': hostileReviews.find(({ name }) => name === '400,000 keys')!.text(),
}

/** Changes every item of every list in the spec. */
const spreadEach = (object: Target): JsonObject => ({
  ...object,
  spec: Object.fromEntries(
    Object.entries(object.spec).map(([key, value]) => [
      key,
      Array.isArray(value) ? (value as JsonObject[]).map((item) => ({ ...item, seen: true })) : value,
    ]),
  ),
})
const spread = (object: Target): JsonObject => ({ ...object, metadata: { ...object.metadata, labels: { seen: 'yes' } } })
/** Changes the first item and removes the second item of every list in the spec. */
const spreadItems = (object: Target): JsonObject => ({
  ...object,
  spec: Object.fromEntries(
    Object.entries(object.spec).map(([key, value]) => [
      key,
      Array.isArray(value) ? [{ ...(value[0] as JsonObject), id: 7 }, ...value.slice(2)] : value,
    ]),
  ),
})

for (const [name, text] of Object.entries(reviews)) {
  t.test(`changes of a handler to an object of ${name} reach the thread in short turns`, async (t) => {
    // The limits are in milliseconds of processor time. If the handler copies the entire object, the goal is 100 ms. If the handler reuses
    // parts of the original object, the goal is 50 ms. The limits are higher than the goals, because a busy machine needs longer.
    const handlers = [
      ['one field', spread, 150],
      ['one item', spreadItems, 150],
      ['each item', spreadEach, 150],
      ['everything copied', (object: Target) => structuredClone(object), 300],
      ['everything copied and more items in front', (object: Target) => spreadItems(structuredClone(object)), 300],
    ] as const
    for (const [change, handler, limit] of handlers) {
      const longest = await longestTurn(t, text, handler)
      t.ok(longest < limit, `${change}: the longest turn takes ${longest.toFixed(0)} ms of processor time`)
      t.comment(`${change}: ${longest.toFixed(1)} ms`)
    }
  })
}
