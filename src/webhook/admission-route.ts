/** One admission request from its decoded body to the text of its answer: deadline, metrics, log, and what a failing handler becomes. */
import type { Clock } from '../api/clock.ts'
import { messageOf } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { GroupVersionKind } from '../api/group-version-kind.ts'
import { failure } from '../api/status.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { WebhookMetrics } from '../telemetry/metrics.ts'
import { deadlineFrom, timedOut, withDeadline } from './deadline.ts'
import type { AccessReviews } from './access.ts'
import type { AdmissionCache } from './admission-cache.ts'
import type { AdmissionHandler } from './handler.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'
import { decodeReview, encodeReview, MalformedReview } from './review.ts'
import type { Mismatch } from './target.ts'

export interface RouteOptions {
  readonly path: string
  readonly type: GroupVersionKind
  readonly mismatch: Mismatch
  readonly handler: AdmissionHandler
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: WebhookMetrics
}

/**
 * Answers the body of a request; `onClose` tells when the sender has gone.
 *
 * @throws {MalformedReview} when the body is no AdmissionReview of this kind.
 */
export type Route = (body: unknown, timeout: unknown, onClose: (listener: () => void) => void) => Promise<string>

export function admissionRoute(options: RouteOptions): Route {
  const { metrics, clock } = options
  return async (body, timeout, onClose) => {
    const finished = metrics.started()
    let answer: { code: number; allowed?: boolean } = { code: 400 }
    try {
      const request = decodeReview(body)
      const mismatch = options.mismatch(request)
      if (mismatch !== undefined) throw new MalformedReview(mismatch)
      const since = clock.now()
      const response = await decide(options, request, deadlineFrom(timeout), onClose)
      answer = { code: 200, allowed: response.allowed }
      log(options, request, response, clock.now() - since)
      return encodeReview(request.uid, response)
    } finally {
      finished(answer.code, answer.allowed)
    }
  }
}

async function decide(
  options: RouteOptions,
  request: AdmissionRequest,
  ms: number,
  onClose: (listener: () => void) => void,
): Promise<AdmissionResponse> {
  const { type, handler, client, cache, access, clock, logger, metrics } = options
  const controller = new AbortController()
  onClose(() => controller.abort(new DOMException('the connection of the request was closed', 'AbortError')))
  const { signal } = controller
  const call = { client: clientWithSignal(client, signal), cache, access, logger, signal }
  try {
    // `async`: a handler that throws before its first `await` fails like any other.
    const response = await withDeadline(clock, ms, controller, async () => handler(request, call))
    if (response !== timedOut) return response
    const text = `the webhook for ${groupKindOf(type)} did not decide within ${Math.round(ms)} ms`
    logger.warn({ ...facts(request), code: 504 }, text)
    return { allowed: false, status: failure(504, 'Timeout', text) }
  } catch (error) {
    if (signal.aborted) {
      logger.debug({ ...facts(request), err: error }, 'a review was given up: its sender has gone')
      return { allowed: false, status: failure(499, 'Aborted', 'nobody waits for this answer any more') }
    }
    metrics.panicked()
    logger.error({ ...facts(request), code: 500, err: error }, `the webhook for ${groupKindOf(type)} failed`)
    return { allowed: false, status: failure(500, 'InternalError', `the webhook for ${groupKindOf(type)} failed: ${messageOf(error)}`) }
  }
}

/** What a log line says about a request: who, what and which, never the object. */
function facts({ uid, kind, namespace, name, operation, userInfo }: AdmissionRequest): object {
  return { uid, kind: kind.kind, namespace, name, operation, user: userInfo.username }
}

/** Failed, timed out, given up: logged where they arise. */
const loggedBefore: ReadonlySet<number | undefined> = new Set([500, 504, 499])

function log({ path, logger }: RouteOptions, request: AdmissionRequest, { allowed, status, patch }: AdmissionResponse, ms: number): void {
  const denied = !allowed && !loggedBefore.has(status?.code)
  if (denied)
    logger.info(
      { path, ...facts(request), code: status?.code, reason: status?.reason, causes: status?.details?.causes?.length ?? 0 },
      'denied',
    )
  if (logger.isLevelEnabled('debug')) logger.debug({ path, ...facts(request), allowed, operations: patch?.length ?? 0, ms }, 'reviewed')
}
