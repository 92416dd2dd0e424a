/** Determines whether a Job of a CronJob is due. */
import type { DeepReadonly } from 'proreus'
import type { CronJob } from './kind.ts'
import type { Schedule } from './schedule.ts'

/**
 * If more than this number of scheduled times were missed, an Event reports the missed times. The CronJob controller of Kubernetes has the
 * same limit.
 */
export const fewMissed = 100

export interface DueTime {
  /** The latest scheduled time that has passed and has no Job. Earlier scheduled times without a Job are skipped. */
  readonly time: number
  /**
   * The action for the Job of the scheduled time `time`. `run`: the Job starts now. `wait`: the Job starts when the active Jobs have ended.
   * `late`: the Job does not start, because the deadline has passed.
   */
  readonly action: 'run' | 'wait' | 'late'
  /** The deadline for the start of the Job, in milliseconds since 1970; Infinity if the CronJob has no `startingDeadlineSeconds`. */
  readonly deadline: number
  /**
   * True if more than `fewMissed` scheduled times have passed since the newest Job. Scheduled times whose deadline has passed are not
   * counted.
   */
  readonly isManyMissed: boolean
}

/**
 * Returns the latest scheduled time that has no Job, and the action for this time. Returns undefined if no scheduled time has passed since
 * `since`.
 *
 * @param since the scheduled time of the newest Job, or the time at which the CronJob was created.
 * @param isActive true when a Job of the CronJob has not ended.
 */
export function dueTime(
  { startingDeadlineSeconds = Infinity, concurrencyPolicy }: DeepReadonly<CronJob>['spec'],
  {
    schedule,
    since,
    now,
    isActive,
  }: { readonly schedule: Schedule; readonly since: number; readonly now: number; readonly isActive: boolean },
): DueTime | undefined {
  const time = schedule.latest(now)
  if (time === undefined || time <= since) return undefined
  const deadlineMs = startingDeadlineSeconds * 1000
  const deadline = time + deadlineMs
  const action = deadline <= now ? 'late' : concurrencyPolicy === 'Forbid' && isActive ? 'wait' : 'run'
  return { time, action, deadline, isManyMissed: hasMany(schedule, Math.max(since, now - deadlineMs), now) }
}

function hasMany(schedule: Schedule, after: number, until: number): boolean {
  let count = 0
  for (let time = schedule.next(after); time <= until && count <= fewMissed; time = schedule.next(time)) count += 1
  return count > fewMissed
}
