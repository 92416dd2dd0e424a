/** The CronJob controller: starts Jobs at the scheduled times (k8s.io/kubernetes/pkg/controller/cronjob: ControllerV2). */
import { formatTime } from '../../../../api/conditions.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import { formatKey } from '../../../../api/object.ts'
import { controllerOf } from '../../../../api/owner-reference.ts'
import { isAlreadyExists } from '../../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import { locationProblem } from '../../../../api/time-zone.ts'
import { controlledBy } from '../dependents.ts'
import { isNamespaceTerminating } from '../pod-control.ts'
import { retryRefused } from '../../retry-refused.ts'
import type { CronJob, Job } from './jobs.ts'
import { deleteJob, jobName, jobOf, jobsByController } from './jobs.ts'
import { dueTime, nextTimeInMs } from './missed-schedules.ts'
import type { Progress } from './progress.ts'
import { addActive, deleteOldJobs, isActive, observeJobs, progressOf, removeActive, writeProgress } from './progress.ts'
import type { Schedule } from './schedule.ts'
import { scheduleOf } from './schedule.ts'

export function cronJobController(): ControllerDefinition {
  /** The schedule of each CronJob at its last reconcile, keyed by namespace and name. */
  const schedules = new Map<string, string>()
  return defineController(batch.cronJob, {
    name: 'cronjob',
    resyncPeriodMs: 0,
    workers: 4,
    owns: [batch.job],
    indexes: [jobsByController],
    reconcile: retryRefused((cronJob: CronJob, context: ReconcileContext) => reconcileCronJob(cronJob, schedules, context)),
    deleted: (key) => Promise.resolve(void schedules.delete(formatKey(key))),
  })
}

async function reconcileCronJob(cronJob: CronJob, schedules: Map<string, string>, context: ReconcileContext): Promise<Result> {
  if (hasNewSchedule(cronJob, schedules)) {
    // If the schedule has changed, the reconcile starts no Job. The reconcile only waits for the next time of the new schedule (…/cronjob:
    // updateCronJob). If the new schedule has no next time, the code below reports this problem.
    const schedule = scheduleOf(cronJob.spec.schedule, cronJob.spec.timeZone)
    if (typeof schedule === 'string') {
      context.events.event(cronJob, 'Warning', 'UnParseableCronJobSchedule', `unparseable schedule for cronjob: ${cronJob.spec.schedule}`)
      return undefined
    }
    const next = requeueFor(cronJob, schedule, context)
    if (next !== undefined) return next
  }
  const jobs = controlledBy(jobsByController, cronJob, context)
  const progress = progressOf(cronJob)
  await deleteOldJobs(cronJob, jobs, progress, context)
  observeJobs(cronJob, jobs, progress, context)
  try {
    const schedule = activeSchedule(cronJob, context)
    if (schedule === undefined) return undefined
    return await startDueJob(cronJob, schedule, progress, context)
  } finally {
    await writeProgress(cronJob, progress, context)
  }
}

/**
 * Returns true when the schedule or the time zone of a CronJob has changed since the previous call. The first call for a CronJob returns
 * false. Each call records the schedule in `schedules`.
 */
function hasNewSchedule({ metadata, spec }: CronJob, schedules: Map<string, string>): boolean {
  const key = formatKey(metadata)
  const [before, schedule] = [schedules.get(key), JSON.stringify([spec.schedule, spec.timeZone])]
  schedules.set(key, schedule)
  return before !== undefined && before !== schedule
}

function requeueFor(cronJob: CronJob, schedule: Schedule, { clock }: ReconcileContext): Result {
  const requeueAfterMs = nextTimeInMs(cronJob, clock.now(), schedule)
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

/**
 * Returns the schedule; undefined when the CronJob is being deleted or is suspended, or when its schedule or time zone is invalid. An Event
 * reports an invalid schedule or time zone.
 */
function activeSchedule(cronJob: CronJob, { events }: ReconcileContext): Schedule | undefined {
  const { schedule: text, timeZone, suspend } = cronJob.spec
  if (cronJob.metadata.deletionTimestamp !== undefined) return undefined
  const problem = timeZone === undefined ? undefined : locationProblem(timeZone)
  if (problem !== undefined) {
    events.event(cronJob, 'Warning', 'UnknownTimeZone', `invalid timeZone: ${JSON.stringify(timeZone)}: ${problem}`)
    return undefined
  }
  if (suspend === true) return undefined
  if (text.includes('TZ')) {
    const hint = 'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
    const message = `CRON_TZ or TZ used in schedule ${JSON.stringify(text)} is not officially supported, ${hint}`
    events.event(cronJob, 'Warning', 'UnsupportedSchedule', message)
  }
  const schedule = scheduleOf(text, timeZone)
  if (typeof schedule !== 'string') return schedule
  events.event(cronJob, 'Warning', 'UnparseableSchedule', `unparseable schedule: ${JSON.stringify(text)} : ${schedule}`)
  return undefined
}

/**
 * Starts the Job of the last scheduled time, unless the concurrency policy prevents the start (…/cronjob: syncCronJob).
 *
 * The Event `MissSchedule` is not implemented, because Kubernetes never records it. The Event is for a scheduled time that is more than
 * `startingDeadlineSeconds` ago. Kubernetes has already ignored such times in an earlier step.
 */
async function startDueJob(cronJob: CronJob, schedule: Schedule, progress: Progress, context: ReconcileContext): Promise<Result> {
  const { events, clock } = context
  const { schedule: text, concurrencyPolicy } = cronJob.spec
  const due = dueTime(cronJob, clock.now(), schedule)
  if (due === undefined) {
    const problem = 'time difference between two schedules is less than 1 second'
    events.event(cronJob, 'Warning', 'InvalidSchedule', `invalid schedule: ${text} : ${problem}`)
    return undefined
  }
  const { time } = due
  const requeue = requeueFor(cronJob, schedule, context)
  if (time === undefined) return requeue
  if (due.isLate) {
    const advice = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew'
    events.event(cronJob, 'Warning', 'TooManyMissedTimes', `too many missed start times. ${advice}`)
  }
  const name = jobName(cronJob, time)
  if (progress.active.some((job) => job.name === name)) return requeue
  if (concurrencyPolicy === 'Forbid' && progress.active.length > 0) {
    const reason = 'prior execution is running and concurrency policy is Forbid'
    events.event(cronJob, 'Normal', 'JobAlreadyActive', `Not starting job because ${reason}`)
    return requeue
  }
  if (concurrencyPolicy === 'Replace') await deleteActiveJobs(cronJob, progress, context)
  const job = await createJob(cronJob, time, progress, context)
  if (job === undefined) return undefined
  addActive(progress, job)
  progress.lastScheduleTime = formatTime(time)
  return requeueFor(cronJob, schedule, context)
}

async function deleteActiveJobs(cronJob: CronJob, progress: Progress, context: ReconcileContext): Promise<void> {
  const { namespace } = cronJob.metadata
  for (const { name = '', uid } of progress.active) {
    const job = context.cache.get(batch.job, { namespace, name })
    if (job !== undefined) await deleteJob(job, cronJob, context)
    removeActive(progress, uid)
  }
}

/**
 * Creates the Job of a scheduled time. Resolves with the new Job, unless a Job with the same name already exists:
 *
 * - If the CronJob controls the existing Job, and `progress.active` does not contain this Job, resolves with the existing Job. An earlier
 *   reconcile created this Job but could not write the status.
 * - Otherwise, resolves with undefined.
 */
async function createJob(cronJob: CronJob, time: number, progress: Progress, context: ReconcileContext): Promise<Job | undefined> {
  const { client, events } = context
  const job = jobOf(cronJob, time)
  try {
    const created = await client.create(batch.job, job)
    events.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${created.metadata.name}`)
    return created
  } catch (error) {
    if (isAlreadyExists(error)) {
      const existing = await client.get(batch.job, { namespace: cronJob.metadata.namespace, name: jobName(cronJob, time) })
      return controllerOf(existing)?.uid === cronJob.metadata.uid && !isActive(progress, existing) ? existing : undefined
    }
    if (error instanceof Error && !isNamespaceTerminating(error))
      events.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${error.message}`)
    throw error
  }
}
