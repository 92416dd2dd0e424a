/** Computes the status of a CronJob from its Jobs, and writes it (k8s.io/kubernetes/pkg/controller/cronjob: syncCronJob). */
import { batch } from '../../../../api/kubernetes/batch.ts'
import { isApiError } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import { writeStatus } from '../workload-status.ts'
import type { CronJob, Job } from './jobs.ts'
import { deleteJob, finishedAs } from './jobs.ts'

/** A reference to a Job in `status.active`. */
type ActiveJob = NonNullable<NonNullable<CronJob['status']>['active']>[number]

/**
 * The status of a CronJob. A reconcile changes the fields of this object, and then writes the fields to the API server with
 * `writeProgress`.
 */
export interface Progress {
  active: readonly ActiveJob[]
  lastScheduleTime: string | undefined
  lastSuccessfulTime: string | undefined
}

export function progressOf({ status }: CronJob): Progress {
  const { active = [], lastScheduleTime, lastSuccessfulTime } = status ?? {}
  return { active, lastScheduleTime, lastSuccessfulTime }
}

/** Writes `progress` to the status of the CronJob if `progress` differs from the status. */
export async function writeProgress(cronJob: CronJob, progress: Progress, context: ReconcileContext): Promise<void> {
  await writeStatus(batch.cronJob, cronJob, { ...progress }, context, [])
}

/** Adds a reference to the Job to `progress.active` (k8s.io/client-go/tools/reference: GetReference). */
export function addActive(progress: Progress, { metadata }: Job): void {
  const { namespace, name, uid, resourceVersion } = metadata
  const reference = { kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion }
  progress.active = [...progress.active, reference as ActiveJob]
}

export function isActive({ active }: Progress, { metadata }: Job): boolean {
  return active.some(({ uid }) => uid === metadata.uid)
}

export function removeActive(progress: Progress, uid: string | undefined): void {
  progress.active = progress.active.filter((job) => job.uid !== uid)
}

/**
 * Deletes the oldest finished Jobs that exceed the history limits. If the API server rejects a deletion, an Event reports the error, and the
 * next reconcile tries the deletion again (…/cronjob: cleanupFinishedJobs).
 */
export async function deleteOldJobs(cronJob: CronJob, jobs: readonly Job[], progress: Progress, context: ReconcileContext): Promise<void> {
  const { successfulJobsHistoryLimit = Infinity, failedJobsHistoryLimit = Infinity } = cronJob.spec
  for (const [type, limit] of [
    ['Complete', successfulJobsHistoryLimit],
    ['Failed', failedJobsHistoryLimit],
  ] as const) {
    const finished = jobs.filter((job) => finishedAs(job) === type).toSorted(byStartTime)
    for (const job of finished.slice(0, Math.max(0, finished.length - limit))) {
      try {
        await deleteJob(job, cronJob, context)
        removeActive(progress, job.metadata.uid)
      } catch (error) {
        if (!isApiError(error)) throw error
      }
    }
  }
}

/** Compares Jobs by start time, oldest first. Jobs without a start time come last. */
function byStartTime(a: Job, b: Job): number {
  const startOf = ({ status }: Job): number => (status?.startTime === undefined ? Infinity : Date.parse(status.startTime))
  const [first, second] = [startOf(a), startOf(b)]
  if (first !== second) return first < second ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : 1
}

/**
 * Updates `progress` from the Jobs of a CronJob. A Job that has finished or does not exist is removed from `active`. `lastSuccessfulTime`
 * is set to the latest completion time of a complete Job.
 */
export function observeJobs(cronJob: CronJob, jobs: readonly Job[], progress: Progress, { cache, events }: ReconcileContext): void {
  for (const job of jobs) {
    const { name, uid } = job.metadata
    const result = finishedAs(job)
    if (result === undefined) {
      if (!isActive(progress, job))
        events.event(cronJob, 'Warning', 'UnexpectedJob', `Saw a job that the controller did not create or forgot: ${name}`)
      continue
    }
    if (isActive(progress, job)) {
      removeActive(progress, uid)
      events.event(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${result}`)
    }
    const { completionTime } = job.status ?? {}
    if (result !== 'Complete' || completionTime === undefined) continue
    const last = Date.parse(progress.lastSuccessfulTime ?? '')
    if (Number.isNaN(last) || last < Date.parse(completionTime)) progress.lastSuccessfulTime = completionTime
  }
  for (const { namespace = cronJob.metadata.namespace, name = '', uid } of progress.active) {
    if (jobs.some(({ metadata }) => metadata.uid === uid) || cache.get(batch.job, { namespace, name }) !== undefined) continue
    events.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`)
    removeActive(progress, uid)
  }
}
