/** `ReplacementDelays`: computes how long Jobs wait before they replace failed Pods. */
import { findCondition } from '../../../../api/conditions.ts'
import { secondsToMs } from '../../../apimachinery/duration.ts'
import type { ReadonlyPod } from '../../api-types.ts'

type ContainerStatus = NonNullable<NonNullable<ReadonlyPod['status']>['containerStatuses']>[number]

/** After the first failure, the delay is 10 s. Each further failure doubles the delay, up to 10 minutes. */
const firstDelayMs = 10_000
const maxDelayMs = 600_000

interface Failures {
  /** The number of failures since the last success. */
  readonly count: number
  /** The time of the last failure in milliseconds since 1970. */
  readonly last: number
}

const none: Failures = { count: 0, last: 0 }

/** The failures of each Job, keyed by the namespace and name of the Job (k8s.io/kubernetes/pkg/controller/job: backoffStore). */
export class ReplacementDelays {
  readonly #failures = new Map<string, Failures>()

  /** Records the Pods of a Job that have ended since the last call. */
  record(key: string, succeeded: readonly ReadonlyPod[], failed: readonly ReadonlyPod[]): void {
    if (succeeded.length === 0 && failed.length === 0) return
    const before = succeeded.length > 0 ? none : (this.#failures.get(key) ?? none)
    const lastSuccess = Math.max(0, ...succeeded.map(endOf))
    const ends = failed.map(endOf).filter((end) => end > lastSuccess)
    this.#failures.set(key, { count: before.count + ends.length, last: Math.max(before.last, ...ends) })
  }

  /** Returns the time in milliseconds until the Job may replace failed Pods; 0 when the Job need not wait. */
  remainingMs(key: string, now: number): number {
    const { count, last } = this.#failures.get(key) ?? none
    return remainingDelayMs(count, last, now)
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }
}

/** Returns the time in milliseconds until a Pod may be replaced after `count` failures. The last failure was at `last`. */
export function remainingDelayMs(count: number, last: number, now: number): number {
  return count === 0 ? 0 : Math.max(0, last + Math.min(maxDelayMs, firstDelayMs * 2 ** (count - 1)) - now)
}

/**
 * Returns the time at which a Pod ended, in milliseconds since 1970 (k8s.io/kubernetes/pkg/controller/job: getFinishedTime). The result is
 * the first of these times that is known:
 *
 * - the time at which the last container ended, if all containers have an end time. Sidecars count, and other init containers do not.
 * - the time at which the Pod became unready
 * - the time at which the deletion of the Pod was requested
 * - the time at which the Pod was created
 */
export function endOf({ metadata, spec, status }: ReadonlyPod): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name)
  const sidecarStatuses = (status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.includes(name))
  const end = lastEnd(sidecarStatuses, lastEnd(status?.containerStatuses ?? []))
  if (end !== undefined) return end
  const ready = findCondition(status?.conditions, 'Ready')
  const unready = ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') : Number.NaN
  const deleted = Date.parse(metadata.deletionTimestamp ?? '') - secondsToMs(metadata.deletionGracePeriodSeconds ?? 0)
  return unready || deleted || Date.parse(metadata.creationTimestamp)
}

/** Returns the latest of `earlier` and the end times of the containers; undefined if a container has no end time. */
function lastEnd(statuses: readonly ContainerStatus[], earlier?: number): number | undefined {
  let last = earlier
  for (const { state } of statuses) {
    const end = Date.parse(state?.terminated?.finishedAt ?? '')
    if (Number.isNaN(end)) return undefined
    last = Math.max(last ?? end, end)
  }
  return last
}
