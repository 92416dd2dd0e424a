/** Decides whether a Job of a CronJob is due. */
import type { DeepReadonly } from 'proreus'
import type { CronJob } from './kind.ts'
import type { Schedule } from './schedule.ts'

/** More missed times than these are reported. The number is that of the CronJob of Kubernetes. */
export const fewMissed = 100

export interface DueTime {
  /** The latest scheduled time that has passed and has no Job. Earlier ones are skipped. */
  readonly time: number
  /**
   * `run`: its Job starts now. `wait`: it starts when the active Jobs have ended. `late`: it does not start, because its deadline has
   * passed.
   */
  readonly action: 'run' | 'wait' | 'late'
  /** When its deadline passes; Infinity without a deadline. */
  readonly deadline: number
  /** True when more than `fewMissed` scheduled times have passed and are within the deadline. */
  readonly isManyMissed: boolean
}

/**
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
