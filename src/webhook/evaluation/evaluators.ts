/** Decides from a sample of a review's body whether the main thread or a worker thread evaluates it. */
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
 * Creates the evaluation for the body of a request.
 *
 * @throws {MalformedReview} when the body is not an AdmissionReview; when a worker thread evaluates it, `begin` throws this instead.
 */
export type Evaluator = (body: Buffer | undefined) => Evaluation

export interface EvaluatorOptions extends Pick<ReviewThreadOptions, 'threads' | 'maxOldGenerationSizeMb'> {
  /**
   * Returns whether a body is evaluated on the main thread. Default: true for bodies of up to 128 KiB, and for ordinary ones of up to 1 MiB
   * (`offload-policy.ts`).
   */
  readonly isInline?: ((body: Buffer) => boolean) | undefined
}

/** The evaluators of all webhooks of a server, and their worker threads. */
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

  /** Stops the threads. */
  stop(): Promise<void> {
    return this.#threads.stop()
  }
}
