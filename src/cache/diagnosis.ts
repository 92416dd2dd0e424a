/** What a failed list or watch means: what to tell a person, and how to go on. */
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

export type Phase = 'list' | 'watch'

export interface Diagnosis {
  /** Equal for failures that need not be told again. */
  readonly id: string
  readonly level: 'debug' | 'warn' | 'error'
  readonly message: string
  /** Whether to list anew, instead of watching on from where the watch was. */
  readonly relist: boolean
  /** Whether to go on without a pause the first time. */
  readonly atOnce?: boolean
  readonly minPauseMs?: number
  readonly maxPauseMs?: number
}

/** A CRD is usually installed moments later, and asking costs next to nothing. */
const missingTypePauseMs = 5_000

/** What failed. */
export interface Attempt {
  readonly phase: Phase
  /** Whether the server had accepted the watch. */
  readonly opened: boolean
  readonly type: ResourceType
  /** Absent: all namespaces. */
  readonly namespace: string | undefined
}

/**
 * A watch goes on from its place wherever the server may still know it: to list everything again is what a server can bear least
 * after an outage. One that was open and failed by itself may have missed or mistaken something, which a list mends.
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
    const message = `The API server does not serve ${resource} in version ${type.version}: install its CustomResourceDefinition. Waiting for it.`
    return { id: 'missing', level: 'warn', message, relist: true, maxPauseMs: missingTypePauseMs }
  }
  if (isForbidden(error)) {
    const message = `Not allowed to ${phase} ${resource}${where}: grant this operator the verbs list and watch on ${resource}. The API server said: ${error.message}`
    return { id: `forbidden ${phase}`, level: 'error', message, relist }
  }
  const retryAfter =
    error instanceof ApiError && error.retryAfterSeconds !== undefined ? { minPauseMs: error.retryAfterSeconds * 1000 } : {}
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

/** Whether the server finds fault with the request, in which nothing but the resourceVersion changes: after a restored backup, say. */
function isAboutPlace(error: unknown): boolean {
  return isBadRequest(error) || isInvalid(error) || isTooLargeResourceVersion(error)
}
