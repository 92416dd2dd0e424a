/** Where a review is evaluated: a glance at its body decides. */
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
 * The evaluation of the body of a request.
 *
 * @throws {MalformedReview} when it is no AdmissionReview; of a large one, `begin` does.
 */
export type Evaluator = (body: Buffer | undefined) => Evaluation

export interface EvaluatorOptions extends Pick<ReviewThreadOptions, 'threads' | 'maxOldGenerationSizeMb'> {
  /** Which bodies are evaluated on the main thread. Default: those of up to 128 KiB, and those of up to 1 MiB that look ordinary. */
  readonly isInline?: ((body: Buffer) => boolean) | undefined
}

/** The evaluators of all webhooks of a server, with their threads. */
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

  /** Ends the threads. */
  stop(): Promise<void> {
    return this.#threads.stop()
  }
}
