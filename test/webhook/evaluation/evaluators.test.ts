import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { CombinedWebhook } from '../../../src/webhook/definition/combine.ts'
import { combineWebhooks } from '../../../src/webhook/definition/combine.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { Evaluators } from '../../../src/webhook/evaluation/evaluators.ts'
import { InlineEvaluation } from '../../../src/webhook/evaluation/inline.ts'
import { OffloadedEvaluation } from '../../../src/webhook/evaluation/offloaded.ts'
import { MalformedReview } from '../../../src/webhook/review/admission-review.ts'
import { reviewOfSpec, target } from '../../support/hostile/reviews.ts'

const [targets] = combineWebhooks([defineWebhook(target)]) as [CombinedWebhook]
const small = Buffer.from(reviewOfSpec('{}'))
const large = Buffer.from(reviewOfSpec(`{"evil":"${'x'.repeat(2 * 1024 * 1024)}"}`))

t.test('small reviews are evaluated on the main thread and large ones in a worker thread', async (t) => {
  const evaluators = new Evaluators([targets], new FakeClock())
  t.after(() => evaluators.stop())
  const evaluate = evaluators.of(targets, 'validate')
  t.type(evaluate(small), InlineEvaluation)
  t.type(evaluate(large), OffloadedEvaluation)
})

t.test('a policy decides by the body where a review is evaluated', async (t) => {
  const bodies: Buffer[] = []
  const isInline = (body: Buffer): boolean => (bodies.push(body), body === large)
  const evaluators = new Evaluators([targets], new FakeClock(), { isInline })
  t.after(() => evaluators.stop())
  const evaluate = evaluators.of(targets, 'mutate')
  t.type(evaluate(small), OffloadedEvaluation)
  t.type(evaluate(large), InlineEvaluation)
  t.strictSame(bodies, [small, large])
})

t.test('a request without a body is malformed', async (t) => {
  const evaluators = new Evaluators([targets], new FakeClock(), { isInline: () => t.fail('there is no body') })
  t.after(() => evaluators.stop())
  t.throws(() => evaluators.of(targets, 'mutate')(undefined), MalformedReview)
})
