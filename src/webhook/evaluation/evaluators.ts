/** Decides, from a sample of the body, whether a review is evaluated on the main thread or in a worker thread. */
import type { Clock } from '../../runtime/clock.ts'
import { isSoonEvaluated } from './offload-policy.ts'
import type { CombinedWebhook } from '../definition/combine.ts'
import { readReview } from '../review/admission-review.ts'
import type { Evaluation, Verb } from './evaluation.ts'
import { InlineEvaluation, rulesOf } from './inline.ts'
import { OffloadedEvaluation } from './offloaded.ts'
import type { ReviewThreadOptions } from './review-threads.ts'
import { ReviewThreads } from './review-threads.ts'

/**
 * Creates the evaluation of the review in a request body.
 *
 * @throws {MalformedReview} when the body is not an AdmissionReview. If a worker thread evaluates the review, `Evaluation.begin` throws
 *   this error instead.
 */
export type Evaluator = (body: Buffer | undefined) => Evaluation

export interface EvaluatorOptions extends Pick<ReviewThreadOptions, 'threads' | 'maxOldGenerationSizeMb'> {
  /**
   * Returns whether the review in a body is evaluated on the main thread. Default: `isSoonEvaluated` in `offload-policy.ts`, which returns
   * true for bodies of up to 128 KiB, and for bodies of up to 1 MiB that `looksOrdinary` accepts.
   */
  readonly isInline?: ((body: Buffer) => boolean) | undefined
}

/** Creates the `Evaluator` functions for the webhooks of a server. Owns the worker threads in which some reviews are evaluated. */
export class Evaluators {
  readonly #webhooks: readonly CombinedWebhook[]
  readonly #isInline: (body: Buffer) => boolean
  readonly #threads: ReviewThreads

  constructor(webhooks: readonly CombinedWebhook[], clock: Clock, { isInline = isSoonEvaluated, ...limits }: EvaluatorOptions = {}) {
    this.#webhooks = webhooks
    this.#isInline = isInline
    this.#threads = new ReviewThreads({ ...limits, webhooks, clock })
  }

  of(webhook: CombinedWebhook, verb: Verb): Evaluator {
    const rules = rulesOf(webhook, verb)
    const offload = { threads: this.#threads, webhook: this.#webhooks.indexOf(webhook), verb }
    return (body) =>
      body === undefined || this.#isInline(body) ? new InlineEvaluation(rules, readReview(body)) : new OffloadedEvaluation(body, offload)
  }

  /** Terminates the worker threads. */
  stop(): Promise<void> {
    return this.#threads.stop()
  }
}
