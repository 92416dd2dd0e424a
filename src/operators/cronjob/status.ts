/** The status of a CronJob, derived from its Jobs. */
import { findCondition, formatTime, mergeConditions } from 'proreus'
import type { ConditionInput, DeepReadonly, StatusPatch } from 'proreus'
import { scheduledTime, stateOf } from './jobs.ts'
import type { Job } from './jobs.ts'
import type { cronJob, CronJob } from './kind.ts'

/** Maximum number of Jobs in the status. With more Jobs, the object could exceed the size limit of the API server. */
const maxListed = 1000

/** The problem that prevents the creation of a Job for the latest scheduled time. */
export interface Trouble {
  readonly reason: 'InvalidSchedule' | 'JobCreationFailed' | 'JobDeletionFailed' | 'MissedSchedule' | 'NameConflict'
  readonly message: string
}

export interface Observed {
  readonly active: readonly Job[]
  /** The ended Jobs. The newest Job is last. */
  readonly ended: readonly Job[]
  /** The scheduled time of the newest Job in milliseconds since 1970, even if this Job is deleted. 0 if the CronJob never had a Job. */
  readonly lastTime: number
  readonly trouble?: Trouble | undefined
  /**
   * The scheduled time of the Job that is created as soon as no other Job is active, in milliseconds since 1970. Undefined if no Job is
   * delayed by an active Job.
   */
  readonly waiting?: number | undefined
}

type State = Omit<ConditionInput, 'type'>

export function statusOf(object: DeepReadonly<CronJob>, observed: Observed, now: number): StatusPatch<typeof cronJob> {
  const { active, lastTime } = observed
  const { generation } = object.metadata
  const conditions: ConditionInput[] = [
    { type: 'Available', ...availability(object, observed) },
    { type: 'Degraded', ...degradation(object, observed) },
    { type: 'Progressing', ...progress(observed) },
  ]
  return {
    active: active
      .map(referenceTo)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(-maxListed),
    activeCount: active.length,
    ...(lastTime > 0 && { lastScheduleTime: formatTime(lastTime) }),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, conditions, { now, generation }),
  }
}

/** Returns true if the stored status already has a condition of this type with this reason and message. */
export function isKnown({ status }: DeepReadonly<CronJob>, type: string, { reason, message }: Omit<State, 'status'>): boolean {
  const known = findCondition(status?.conditions, type)
  return known?.reason === reason && known.message === message
}

function referenceTo({ apiVersion, kind, metadata: { namespace, name, uid } }: Job) {
  return { apiVersion, kind, namespace, name, uid }
}

function availability({ spec }: DeepReadonly<CronJob>, { active, trouble }: Observed): State {
  if (trouble?.reason === 'InvalidSchedule') return { status: 'False', ...trouble }
  if (spec.suspend) return { status: 'False', reason: 'Suspended', message: 'No Jobs are started.' }
  return { status: 'True', reason: active.length > 0 ? 'JobsActive' : 'AllJobsCompleted', message: '' }
}

const asExpected = { status: 'False', reason: 'AsExpected', message: '' } as const

/**
 * Returns the condition Degraded. A CronJob is degraded if it has a problem, or if its newest Job has failed. A failed Job does not count
 * if a newer Job existed and is already deleted, for example due to the history limit.
 */
function degradation(object: DeepReadonly<CronJob>, { active, ended, lastTime, trouble }: Observed): State {
  if (trouble !== undefined) return { status: 'True', ...trouble }
  const newest = ended.at(-1)
  if (newest === undefined || stateOf(newest) !== 'failed') return asExpected
  const failure = { reason: 'JobsFailed', message: `Job ${newest.metadata.name} failed.` }
  const isLast = scheduledTime(newest) === lastTime
  // `newest` is the newest ended Job that still exists. If `isLast` is false, the CronJob has created a later Job than `newest`. There are
  // two cases:
  //
  // - If no Job is active, the later Job has been deleted. The failure of `newest` then does not count.
  // - If Jobs are active, the later Job may be one of them, and the result of the later Job is then unknown. Therefore, the condition
  //   reports the failure of `newest` only if the stored condition already reports this failure.
  return isLast || (active.length > 0 && isKnown(object, 'Degraded', failure)) ? { status: 'True', ...failure } : asExpected
}

function progress({ active, waiting }: Observed): State {
  if (active.length === 0) return { status: 'False', reason: 'NoJobsActive', message: '' }
  return { status: 'True', ...activity(waiting) }
}

/** Returns the reason and message of the condition Progressing while Jobs are active. */
export function activity(waiting: number | undefined): Omit<State, 'status'> {
  const message = waiting === undefined ? '' : `The Job of ${formatTime(waiting)} waits until no other one is active.`
  return { reason: 'JobsActive', message }
}
