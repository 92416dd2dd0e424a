/** The scheduled times that have passed since a CronJob last started a Job (k8s.io/kubernetes/pkg/controller/cronjob: utils.go). */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { Schedule } from './schedule.ts'

type CronJob = DeepReadonly<batch.CronJob>

/** More missed times than this are many: a Warning Event reports them. */
const fewMissed = 100

/** A Job is started this long after its scheduled time, because clocks of several machines differ (…/cronjob: nextScheduleDelta). */
const paddingMs = 100

interface Missed {
  /** The time after which scheduled times count. */
  readonly earliest: number
  /** The last scheduled time that has passed; undefined when there is none. */
  readonly latest?: number
  /** The approximate number of missed times. 0 also when only one time has passed, which is not late. */
  readonly count: number
}

/**
 * Returns the last scheduled time that has passed. The number of missed times is estimated from the interval between the first two. Returns
 * undefined for a schedule that never selects a time (…/cronjob: mostRecentScheduleTime).
 *
 * @param hasDeadline true when times before `startingDeadlineSeconds` do not count.
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
  // The search begins some intervals before now. When the schedule is irregular, it may find no time.
  let latest: number | undefined
  let next = schedule.next(first + (count - 2) * intervalSeconds * 1000)
  for (; next !== undefined && next <= now; next = schedule.next(next)) latest = next
  return { earliest, ...(latest !== undefined && { latest }), count }
}

/** The scheduled time for which a Job is due. */
export interface DueTime {
  /** Undefined when no Job is due. */
  readonly time?: number
  /** True when so many times were missed that a Warning Event reports it. */
  readonly isLate: boolean
}

/** Returns the scheduled time for which a Job is due. Returns undefined for a schedule that never selects a time. */
export function dueTime(cronJob: CronJob, now: number, schedule: Schedule): DueTime | undefined {
  const missed = missedTimes(cronJob, now, schedule, true)
  if (missed?.latest === undefined) return missed && { isLate: false }
  return { time: missed.latest, isLate: missed.count > fewMissed }
}

/**
 * Returns the time in milliseconds until the next scheduled time; undefined when there is none (…/cronjob: nextScheduleTimeDuration).
 */
export function nextTimeInMs(cronJob: CronJob, now: number, schedule: Schedule): number | undefined {
  const missed = missedTimes(cronJob, now, schedule, false)
  const last = missed?.latest ?? (missed?.count === 0 ? missed.earliest : now)
  const next = schedule.next(last)
  return next === undefined ? undefined : next + paddingMs - now
}
