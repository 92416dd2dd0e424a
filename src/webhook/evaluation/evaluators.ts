/** Chooses where a review is evaluated, by a sample of its body. */
import type { Clock } from '../../api/clock.ts'
import { isSoonEvaluated } from '../body/glance.ts'
import type { CombinedWebhook } from '../combine.ts'
import { readReview } from '../review.ts'
import type { Evaluation, Verb } from './evaluation.ts'
import { InlineEvaluation, rulesOf } from './inline.ts'
import { OffloadedEvaluation } from './offloaded.ts'
import type { ReviewThreadOptions } from './review-threads.ts'
import { ReviewThreads } from './review-threads.ts'

/**
 * Creates the evaluation for the body of a request.
 *
 * @throws {MalformedReview} when the body is not an AdmissionReview; for an offloaded one, `begin` throws it.
 */
export type Evaluator = (body: Buffer | undefined) => Evaluation

export interface EvaluatorOptions extends Pick<ReviewThreadOptions, 'threads' | 'maxOldGenerationSizeMb'> {
  /** Decides which bodies are evaluated on the main thread. Default: those of up to 128 KiB, and ordinary ones of up to 1 MiB. */
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
