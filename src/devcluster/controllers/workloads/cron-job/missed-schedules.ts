/** Finds the scheduled times that have passed since a CronJob last started a Job (k8s.io/kubernetes/pkg/controller/cronjob: utils.go). */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { Schedule } from './schedule.ts'

type CronJob = DeepReadonly<batch.CronJob>

/**
 * Maximum number of missed scheduled times without a warning. If a CronJob has missed more scheduled times, a Warning Event is recorded.
 */
const fewMissed = 100

/**
 * Time in milliseconds between a scheduled time and the reconcile for this time. The delay allows for differences between the clocks of
 * machines (…/cronjob: nextScheduleDelta).
 */
const paddingMs = 100

interface Missed {
  /** The search for scheduled times begins after this time. */
  readonly earliest: number
  /** The last scheduled time that has passed; undefined if the search found no scheduled time between `earliest` and now. */
  readonly latest?: number
  /**
   * If there are at least two scheduled times between `earliest` and now, this is the approximate number of these times. If there is one
   * scheduled time or none, this is 0. A single scheduled time does not count as missed, because the Job for this time is due now.
   */
  readonly count: number
}

/**
 * Returns the last scheduled time that has passed, and the approximate number of missed scheduled times (…/cronjob:
 * mostRecentScheduleTime). The search begins at `status.lastScheduleTime` or, without this field, at the creation of the CronJob. The
 * number is estimated from the interval between the first two scheduled times of the search.
 *
 * Returns undefined in these cases:
 *
 * - The schedule has no time after the beginning of the search.
 * - The schedule has only one time after this beginning, and this time has passed.
 *
 * @param hasDeadline if true, times that are more than `startingDeadlineSeconds` ago are ignored.
 */
function missedTimes({ metadata, spec, status }: CronJob, now: number, schedule: Schedule, hasDeadline: boolean): Missed | undefined {
  const since = Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp)
  const { startingDeadlineSeconds = Infinity } = spec
  const earliest = hasDeadline ? Math.max(since, now - startingDeadlineSeconds * 1000) : since
  const first = schedule.next(earliest)
  if (first === undefined) return undefined
  if (now < first) return { earliest, count: 0 }
  const second = schedule.next(first)
  if (second === undefined) return undefined
  if (now < second) return { earliest, latest: first, count: 0 }
  const intervalSeconds = Math.round((second - first) / 1000)
  const count = Math.floor(Math.floor((now - first) / 1000) / intervalSeconds) + 1
  // The search begins about two intervals before now. If the scheduled times are not evenly spaced, it is possible that the search finds no
  // time.
  let latest: number | undefined
  let next = schedule.next(first + (count - 2) * intervalSeconds * 1000)
  for (; next !== undefined && next <= now; next = schedule.next(next)) latest = next
  return { earliest, ...(latest !== undefined && { latest }), count }
}

/** The scheduled time for which a Job is due. */
export interface DueTime {
  /** Undefined when no Job is due. */
  readonly time?: number
  /** True when more than `fewMissed` scheduled times were missed. */
  readonly isLate: boolean
}

/**
 * Returns the scheduled time for which a Job is due. If no Job is due, `time` is undefined in the result. If `missedTimes` returns
 * undefined, the result is undefined.
 *
 * The scheduled time is always later than `status.lastScheduleTime`. If a user deletes the Job of `lastScheduleTime`, the Job is therefore
 * not created again.
 */
export function dueTime(cronJob: CronJob, now: number, schedule: Schedule): DueTime | undefined {
  const missed = missedTimes(cronJob, now, schedule, true)
  if (missed?.latest === undefined) return missed && { isLate: false }
  return { time: missed.latest, isLate: missed.count > fewMissed }
}

/**
 * Returns the time in milliseconds until the next scheduled time, plus `paddingMs`; undefined when the schedule selects no further time
 * (…/cronjob: nextScheduleTimeDuration).
 */
export function nextTimeInMs(cronJob: CronJob, now: number, schedule: Schedule): number | undefined {
  const missed = missedTimes(cronJob, now, schedule, false)
  const last = missed?.latest ?? (missed?.count === 0 ? missed.earliest : now)
  const next = schedule.next(last)
  return next === undefined ? undefined : next + paddingMs - now
}
