/** Functions that compute the states of a Pod, such as ready and available, for the workload controllers. */
import { findCondition } from '../../../api/conditions.ts'
import type { ReadonlyPod } from '../api-types.ts'

/** Returns true when the Pod has not ended and is not being deleted (k8s.io/kubernetes/pkg/controller: IsPodActive). */
export function isActive({ metadata, status }: ReadonlyPod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata.deletionTimestamp === undefined
}

/** Returns true when the Pod is being deleted and has not ended. */
export function isTerminating({ metadata, status }: ReadonlyPod): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed' && metadata.deletionTimestamp !== undefined
}

/** Returns true when the condition `Ready` is true. */
export function isReady(pod: ReadonlyPod): boolean {
  return readySince(pod) !== undefined
}

/** Returns the time in milliseconds since 1970 at which the Pod became ready; undefined when the Pod is not ready. */
export function readySince({ status }: ReadonlyPod): number | undefined {
  const ready = findCondition(status?.conditions, 'Ready')
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : undefined
}

/**
 * Returns the time in milliseconds until the Pod has been ready for `minReadySeconds`. Returns 0 when the Pod is already available, and
 * undefined when the Pod is not ready.
 */
export function availableInMs(pod: ReadonlyPod, minReadySeconds: number, now: number): number | undefined {
  const since = readySince(pod)
  if (since === undefined) return undefined
  return minReadySeconds === 0 ? 0 : Math.max(0, since + minReadySeconds * 1000 - now)
}

/** Returns true when the Pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: ReadonlyPod, minReadySeconds: number, now: number): boolean {
  return availableInMs(pod, minReadySeconds, now) === 0
}
