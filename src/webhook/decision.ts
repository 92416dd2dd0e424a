/** One call of a handler: within its deadline, for as long as its sender waits; and what becomes of one that fails. */
import type { Clock } from '../api/clock.ts'
import { messageOf } from '../api/errors.ts'
import { failure } from '../api/status.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ReviewOutcome } from '../telemetry/metrics.ts'
import { timedOut, withDeadline } from './deadline.ts'
import type { AdmissionHandler } from './handler.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'

/** How a review ended, and what its sender is told. */
export interface Decision {
  readonly outcome: ReviewOutcome
  readonly response: AdmissionResponse
  /** What the handler threw. */
  readonly error: unknown
}

export interface DecideOptions {
  /** What is reviewed, as messages name it: `Widget.apps.example.com`. */
  readonly reviewed: string
  readonly handler: AdmissionHandler
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
}

/** Asks the handler. Never rejects: the API server gets an answer, and its user reads why there was no better one. */
export async function decide(
  { reviewed, handler, client, clock, logger }: DecideOptions,
  request: AdmissionRequest,
  deadlineMs: number,
  onClose: (listener: () => void) => void,
): Promise<Decision> {
  const controller = new AbortController()
  onClose(() => controller.abort(new DOMException('the connection of the request was closed', 'AbortError')))
  const { signal } = controller
  const call = { client: clientWithSignal(client, signal), logger, signal }
  try {
    // `async`: a handler that throws before its first `await` fails like any other.
    const response = await withDeadline(clock, deadlineMs, controller, async () => handler(request, call))
    if (response !== timedOut) return { outcome: response.allowed ? 'allowed' : 'denied', response, error: undefined }
    const text = `the webhook for ${reviewed} did not decide within ${Math.round(deadlineMs)} ms`
    return refused('timed_out', 504, 'Timeout', text, undefined)
  } catch (error) {
    if (signal.aborted) return refused('abandoned', 499, 'Aborted', 'nobody waits for this answer any more', error)
    return refused('errored', 500, 'InternalError', `the webhook for ${reviewed} failed: ${messageOf(error)}`, error)
  }
}

function refused(outcome: ReviewOutcome, code: number, reason: string, message: string, error: unknown): Decision {
  return { outcome, response: { allowed: false, status: failure(code, reason, message) }, error }
}
