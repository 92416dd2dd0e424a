/** Runs the stages of one review within its deadline. Aborts the stages when the API server disconnects. Converts errors to responses. */
import type { Clock } from '../runtime/clock.ts'
import { messageOf } from '../api/errors.ts'
import { failure } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ReviewOutcome } from '../telemetry/metrics.ts'
import type { AccessReviews } from './handlers/requester-access.ts'
import type { AdmissionCache } from './handlers/admission-cache.ts'
import { BodyRefused } from './body/body-refused.ts'
import { timedOut } from '../runtime/waiting.ts'
import { withDeadline } from './review/handler-deadline.ts'
import type { Evaluation } from './evaluation/evaluation.ts'
import type { Call } from './handlers/call.ts'
import type { AdmissionResponse, WrittenAnswer } from './review/admission-review.ts'
import { MalformedReview } from './review/admission-review.ts'
import type { Answered, Stages } from './review-stages.ts'
import { runStages } from './review-stages.ts'

/** The outcome of a review, and its response. */
export interface Decision {
  readonly outcome: ReviewOutcome
  readonly response: AdmissionResponse
  /** The serialized response; undefined if the stages have not completed. */
  readonly written: WrittenAnswer | undefined
  /** The error that a stage threw; undefined if none threw. */
  readonly error: unknown
}

interface DecideOptions extends Stages {
  /** The kind of the objects that the webhook reviews, in the form `Widget.apps.example.com`. It is used only in messages. */
  readonly reviewed: string
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Runs the stages of a review within `deadlineMs`. If a stage fails or the deadline passes, the response denies the request. The message in
 * the response contains the cause, and is printed by kubectl.
 *
 * If all stages return synchronously, no promise, timer or listener is created.
 *
 * @throws {MalformedReview} when the request is not an AdmissionReview for the webhook at this path.
 */
export function decide(
  options: DecideOptions,
  evaluation: Evaluation,
  deadlineMs: number,
  onClose: (listener: () => void) => void,
): Decision | Promise<Decision> {
  const { client, cache, access, logger } = options
  const call = new ReviewCall(client, cache, access, logger)
  try {
    const answered = runStages(options, evaluation, call)
    if (!(answered instanceof Promise)) return decided(answered)
    onClose(() => call.abort(new DOMException('the connection of the request was closed', 'AbortError')))
    return decideInTime(options, call, deadlineMs, answered)
  } catch (error) {
    return failed(options, error)
  }
}

async function decideInTime(options: DecideOptions, call: ReviewCall, deadlineMs: number, deciding: Promise<Answered>): Promise<Decision> {
  try {
    const answered = await withDeadline(options.clock, deadlineMs, call, deciding)
    if (answered !== timedOut) return decided(answered)
    const text = `the webhook for ${options.reviewed} did not decide within ${Math.round(deadlineMs)} ms`
    return refused('timed_out', 504, 'Timeout', text, undefined)
  } catch (error) {
    if (call.aborted) return refused('abandoned', 499, 'Aborted', 'the client no longer waits for this response', error)
    return failed(options, error)
  }
}

function decided({ response, written }: Answered): Decision {
  return { outcome: response.allowed ? 'allowed' : 'denied', response, written, error: undefined }
}

function failed({ reviewed }: DecideOptions, error: unknown): Decision {
  if (error instanceof MalformedReview) throw error
  if (error instanceof BodyRefused) return refused('denied', error.code, 'RequestEntityTooLarge', error.message, error)
  return refused('errored', 500, 'InternalError', `the webhook for ${reviewed} failed: ${messageOf(error)}`, error)
}

/** The data for calls of handlers. The signal is created on first use, because most handlers do not use it. */
class ReviewCall implements Call {
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  #controller: AbortController | undefined
  #reason: unknown

  constructor(client: Client, cache: AdmissionCache, access: AccessReviews, logger: Logger) {
    this.client = client
    this.cache = cache
    this.access = access
    this.logger = logger
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  abort(reason: unknown): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
  }
}

function refused(outcome: ReviewOutcome, code: number, reason: string, message: string, error: unknown): Decision {
  return { outcome, response: { allowed: false, status: failure(code, reason, message) }, written: undefined, error }
}
