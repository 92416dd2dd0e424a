/** Handles one admission request from the body to the response, and records its log line, metrics and span. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../runtime/clock.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { GroupVersionKind } from '../api/group-version-kind.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { WebhookMetrics } from '../telemetry/metrics.ts'
import { registeredTracer } from '../telemetry/tracing.ts'
import type { AccessReviews } from './handlers/requester-access.ts'
import type { AdmissionCache } from './handlers/admission-cache.ts'
import type { Decision } from './decide-review.ts'
import { decide } from './decide-review.ts'
import type { Evaluation } from './evaluation/evaluation.ts'
import type { Evaluator } from './evaluation/evaluators.ts'
import type { AdmissionRequest } from './review/admission-review.ts'
import { encodeReview } from './review/admission-review.ts'
import { reviewLog } from './review-log.ts'
import { ReviewSpan } from './review-span.ts'
import type { Stages } from './review-stages.ts'

interface RouteOptions extends Stages {
  readonly path: string
  readonly type: GroupVersionKind
  readonly evaluator: Evaluator
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: WebhookMetrics
  /** Returns true if the log line of an allowed review is at level `info`. The argument is the uid of the request. */
  readonly sampled: (uid: string) => boolean
}

/** A response as serialized JSON. */
type Answer = string | Buffer

/**
 * Handles the body of a request and returns the response. `deadlineMs` is the time limit of the handlers. `onClose` registers a listener
 * that is called when the client disconnects.
 *
 * @throws {MalformedReview} when the body is not an AdmissionReview for the webhook at this path.
 */
export type Route = (
  body: Buffer | undefined,
  deadlineMs: number,
  onClose: OnClose,
  headers: IncomingHttpHeaders,
) => Answer | Promise<Answer>

type OnClose = (listener: () => void) => void

export function admissionRoute(options: RouteOptions): Route {
  const { path, type, evaluator, metrics, logger, sampled } = options
  const reviewed = groupKindOf(type)
  const deciding = { ...options, reviewed }
  const log = reviewLog({ path, reviewed, logger, sampled })

  function review(
    body: Buffer | undefined,
    deadlineMs: number,
    onClose: OnClose,
    headers: IncomingHttpHeaders,
    span?: ReviewSpan,
  ): ReturnType<Route> {
    // `performance.now()` is monotonic, and its resolution is finer than a millisecond.
    const began = performance.now()
    let evaluation: Evaluation | undefined
    const ended = (): void => {
      evaluation?.close()
      metrics.ended((performance.now() - began) / 1000)
      span?.end()
    }
    metrics.started(Number(headers['content-length']))
    let waits = false
    try {
      const begun = (evaluation = evaluator(body))
      const reply = (decision: Decision): Answer => {
        const { request } = begun
        if (request === undefined) throw decision.error instanceof Error ? decision.error : new Error(decision.response.status?.message)
        const ms = performance.now() - began
        count(metrics, request, decision, ms, deadlineMs)
        log(request, decision, ms)
        span?.requested(request)
        span?.decided(decision)
        const { text } = decision.written ?? encodeReview(request.uid, decision.response)
        metrics.answered(200)
        return text
      }
      const decision = decide(deciding, begun, deadlineMs, onClose)
      if (!(decision instanceof Promise)) return reply(decision)
      waits = true
      return decision
        .then(reply)
        .catch((error: unknown) => {
          span?.failed(error)
          throw error
        })
        .finally(ended)
    } catch (error) {
      span?.failed(error)
      throw error
    } finally {
      if (!waits) ended()
    }
  }

  const tracer = registeredTracer()
  if (tracer === undefined) return review
  return (body, deadlineMs, onClose, headers) => {
    const span = new ReviewSpan(tracer, path, headers)
    return span.run(() => review(body, deadlineMs, onClose, headers, span))
  }
}

function count(
  metrics: WebhookMetrics,
  { operation }: AdmissionRequest,
  { outcome, response, written }: Decision,
  ms: number,
  deadlineMs: number,
): void {
  metrics.reviewed(operation, outcome, ms / 1000)
  // A handler that blocks the event loop cannot be interrupted. In this case, the review may exceed the deadline, although the outcome is
  // not `timed_out`.
  if (outcome === 'timed_out' || ms > deadlineMs) metrics.overran()
  if (outcome === 'errored') metrics.panicked()
  metrics.warned(response.warnings?.length ?? 0)
  if (written?.patch !== undefined) metrics.patched(written.patch.operations, written.patch.bytes)
}
