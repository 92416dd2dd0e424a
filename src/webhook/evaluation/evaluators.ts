/** Where a review is evaluated: what the size of its body decides. */
import type { Clock } from '../../api/clock.ts'
import { smallBytes } from '../body/budget.ts'
import type { CombinedWebhook } from '../combine.ts'
import { readReview } from '../review.ts'
import type { Evaluation, Verb } from './evaluation.ts'
import { InlineEvaluation, rulesOf } from './inline.ts'
import { OffloadedEvaluation } from './offloaded.ts'
import type { ReviewThreadOptions } from './review-threads.ts'
import { ReviewThreads } from './review-threads.ts'

/**
 * The evaluation of the body of a request.
 *
 * @throws {MalformedReview} when it is no AdmissionReview; of a large one, `begin` does.
 */
export type Evaluator = (body: Buffer | undefined) => Evaluation

export interface EvaluatorOptions extends Pick<ReviewThreadOptions, 'threads' | 'maxOldGenerationSizeMb'> {
  /** The largest body whose review is evaluated on the main thread, in bytes. Default 128 KiB: mostly a millisecond, 15 at the worst. */
  readonly maxInlineBytes?: number | undefined
}

/** The evaluators of all webhooks of a server, with their threads. */
export class Evaluators {
  readonly #webhooks: readonly CombinedWebhook[]
  readonly #maxInlineBytes: number
  readonly #threads: ReviewThreads

  constructor(webhooks: readonly CombinedWebhook[], clock: Clock, { maxInlineBytes = smallBytes, ...limits }: EvaluatorOptions = {}) {
    this.#webhooks = webhooks
    this.#maxInlineBytes = maxInlineBytes
    this.#threads = new ReviewThreads({ ...limits, webhooks, clock })
  }

  of(webhook: CombinedWebhook, verb: Verb): Evaluator {
    const rules = rulesOf(webhook, verb)
    const offload = { threads: this.#threads, webhook: this.#webhooks.indexOf(webhook), verb }
    return (body) =>
      body === undefined || body.length <= this.#maxInlineBytes
        ? new InlineEvaluation(rules, readReview(body))
        : new OffloadedEvaluation(body, offload)
  }

  /** Ends the threads. */
  stop(): Promise<void> {
    return this.#threads.stop()
  }
}
