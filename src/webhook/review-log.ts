/** Logs one line for each review, with the requester, the request and the outcome. The line never contains the object. */
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Decision } from './decide-review.ts'
import type { AdmissionRequest } from './review/admission-review.ts'

interface ReviewLogOptions {
  readonly path: string
  /**
   * The kind that the webhook reviews, in the form `Widget.apps.example.com`. The log message about a failed webhook contains this text.
   */
  readonly reviewed: string
  readonly logger: Logger
  /** Returns whether the log line of an allowed review is at level `info`. The argument is the uid of the request. */
  readonly sampled: (uid: string) => boolean
}

/**
 * Logs one line for a review. The line of an allowed review is at level `info` if the review is sampled, and at level `debug` otherwise.
 */
type ReviewLog = (request: AdmissionRequest, decision: Decision, ms: number) => void

export function reviewLog({ path, reviewed, logger, sampled }: ReviewLogOptions): ReviewLog {
  return (request, { outcome, response, written, error }, ms) => {
    switch (outcome) {
      case 'allowed': {
        const level = sampled(request.uid) ? 'info' : 'debug'
        if (!logger.isLevelEnabled(level)) return
        logger[level]({ ...facts(path, request, ms), allowed: true, operations: written?.patch?.operations ?? 0 }, 'reviewed')
        return
      }
      case 'denied': {
        const { status } = response
        const why = {
          allowed: false,
          code: status?.code,
          reason: status?.reason,
          causes: status?.details?.causes?.length ?? 0,
        }
        logger.info({ ...facts(path, request, ms), ...why }, 'denied')
        return
      }
      case 'timed_out':
        logger.warn({ ...facts(path, request, ms), code: 504 }, response.status?.message ?? '')
        return
      case 'errored':
        logger.error(
          { ...facts(path, request, ms), code: 500, err: loggedError(error) },
          `the webhook for ${reviewed} failed${permissionAdvice(error, 'webhook')}`,
        )
        return
      case 'abandoned':
        logger.debug({ ...facts(path, request, ms), err: error }, 'a review was aborted: the client has disconnected')
    }
  }
}

function facts(path: string, { uid, kind, namespace, name, operation, userInfo, dryRun }: AdmissionRequest, ms: number): object {
  // Rounds the duration to microseconds.
  const rounded = Math.round(ms * 1000) / 1000
  return { path, uid, kind: kind.kind, namespace, name, operation, user: userInfo.username, dryRun, ms: rounded }
}
