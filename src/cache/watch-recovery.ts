/** Diagnoses a failed list or watch. The diagnosis contains the log message and determines how the reflector continues. */
import { ProreusError, messageOf } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import {
  ApiError,
  isBadRequest,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooLargeResourceVersion,
  isTooManyRequests,
} from '../client/api-error.ts'
import { maxRetryAfterSeconds } from '../client/retry-request.ts'

export type Phase = 'list' | 'watch'

export interface Diagnosis {
  /** Identifies the kind of failure. If consecutive failures have the same `id`, only the first failure is logged at `level`. */
  readonly id: string
  readonly level: 'debug' | 'warn' | 'error'
  readonly message: string
  /** True to relist; false to resume the watch from its last resourceVersion. */
  readonly relist: boolean
  /** If true, and if no other failure has occurred since the last reset of the back-off, the reflector retries without a pause. */
  readonly atOnce?: boolean
  readonly minPauseMs?: number
  readonly maxPauseMs?: number
}

/**
 * Maximum pause between two requests while the API server does not serve the type. The pause is short, because a missing CRD is usually
 * installed within moments, and a request for a type that is not served is cheap.
 */
const missingTypePauseMs = 5_000
/**
 * Advice for a missing CRD. `proreus run --install` installs only the CRDs of the operators' own kinds. A controller may also watch a type
 * of another project. The command does not install the CRD of such a type, so the advice mentions only the CRDs of the operators.
 */
const installAdvice = '`proreus run --install` installs those of the operators.'

/** The list or watch request that failed. */
export interface Attempt {
  readonly phase: Phase
  /** True for a watch that failed after the server had accepted it. */
  readonly opened: boolean
  readonly type: ResourceType
  /** The namespace of the request; all namespaces when undefined. */
  readonly namespace: string | undefined
}

/**
 * Diagnoses the error of a list or watch. If the server can probably continue a failed watch from its last resourceVersion, the reflector
 * resumes the watch. After an outage of the server, many watches fail at once. If each of these failures caused a relist, the lists would
 * overload the server.
 *
 * If an accepted watch fails with an unknown error, the reflector relists, because the watch may have missed events.
 */
export function diagnose(error: unknown, { phase, opened, type, namespace }: Attempt): Diagnosis {
  const relist = phase === 'list'
  const resource = groupResourceOf(type)
  const where = !type.namespaced ? '' : namespace === undefined ? ' in all namespaces' : ` in the namespace ${namespace}`
  if (isExpired(error)) {
    return {
      id: 'expired',
      level: 'debug',
      message: `the resourceVersion of ${resource} is too old: ${error.message}`,
      relist: true,
      atOnce: true,
    }
  }
  if (isNotFound(error)) {
    const message = `The API server does not serve ${resource} in version ${type.version}: install its CustomResourceDefinition. ${installAdvice} Waiting for it.`
    return { id: 'missing', level: 'warn', message, relist: true, maxPauseMs: missingTypePauseMs }
  }
  if (isForbidden(error)) {
    const message = `Not allowed to ${phase} ${resource}${where}: grant this operator the verbs list and watch on ${resource}. The API server answered: ${error.message}`
    return { id: `forbidden ${phase}`, level: 'error', message, relist }
  }
  const retryAfter =
    error instanceof ApiError && error.retryAfterSeconds !== undefined
      ? { minPauseMs: Math.min(error.retryAfterSeconds, maxRetryAfterSeconds) * 1000 }
      : {}
  if (isTooManyRequests(error)) {
    return {
      id: 'busy',
      level: 'warn',
      message: `The API server is too busy to ${phase} ${resource}: ${error.message}`,
      relist,
      ...retryAfter,
    }
  }
  if (error instanceof ProreusError && error.code === 'PRO_API_UNREACHABLE') {
    return { id: 'unreachable', level: 'warn', message: error.message, relist }
  }
  const id = error instanceof ApiError ? `${phase} ${error.reason}` : phase
  return {
    id,
    level: 'warn',
    message: `Cannot ${phase} ${resource}${where}: ${messageOf(error)}`,
    relist: relist || opened || isAboutPlace(error),
    ...retryAfter,
  }
}

/**
 * Returns true when the server may have rejected the resourceVersion of the request. The server does so, for example, after etcd was
 * restored from a backup.
 */
function isAboutPlace(error: unknown): boolean {
  return isBadRequest(error) || isInvalid(error) || isTooLargeResourceVersion(error)
}
