/** The controller of CronJobs. The controller starts Jobs at the scheduled times, and deletes old Jobs. */
import { defineController, exponentialBackoff, formatTime, isApiError, patchStatusIfChanged } from 'proreus'
import type { DeepReadonly, ReconcileContext, Result } from 'proreus'
import { dueTime, fewMissed } from './due-time.ts'
import { classify, deleteJob, jobsByOwner, jobView, newestTime } from './jobs.ts'
import type { Job, Jobs } from './jobs.ts'
import { cronJob, type CronJob } from './kind.ts'
import { parseSchedule } from './schedule.ts'
import type { Schedule } from './schedule.ts'
import { isRefusal, startJob } from './start-job.ts'
import { activity, isKnown, statusOf } from './status.ts'
import type { Trouble } from './status.ts'

/**
 * The retry interval in milliseconds after the API server refused a request. A retry can succeed only after a user has removed the cause.
 */
const refusedRetryMs = 30_000

export const controller = defineController(cronJob, {
  name: 'cronjob',
  owns: [jobView],
  indexes: [jobsByOwner],
  workers: 4,
  // The maximum back-off is 60 s. With the default maximum of 1000 s, the controller could wait so long after an outage that scheduled
  // times would be skipped.
  rateLimiter: () => exponentialBackoff({ maxMs: 60_000 }),
  rbac: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }],
  reconcile: reconcileCronJob,
})

/** The result of handling the latest scheduled time in a reconcile. */
interface Outcome {
  readonly active: readonly Job[]
  readonly lastTime: number
  readonly trouble?: Trouble | undefined
  readonly waiting?: number | undefined
  /** The time of the next reconcile, in milliseconds since 1970. `soon` requeues the CronJob with the back-off of the rate limiter. */
  readonly again?: number | 'soon' | undefined
}

export async function reconcileCronJob(object: DeepReadonly<CronJob>, context: ReconcileContext): Promise<Result> {
  const { cache, client, clock } = context
  const { metadata, spec } = object
  // When the CronJob is deleted, the garbage collector deletes its Jobs.
  if (metadata.deletionTimestamp !== undefined) return
  const all = cache.list(jobView, { namespace: metadata.namespace, index: [jobsByOwner, metadata.uid] })
  const jobs = classify(all, object)
  // The latest scheduled time is read from the Jobs and from the status. The Jobs are not sufficient, because the newest Job may already be
  // deleted. The status is not sufficient, because the operator may have ended after it created a Job and before it wrote the status.
  const lastTime = Math.max(newestTime(all, context), Date.parse(object.status?.lastScheduleTime ?? '') || 0)
  const schedule = parseSchedule(spec.schedule)
  const outcome: Outcome =
    'next' in schedule ? await startDueJob(object, schedule, { jobs, lastTime }, context) : notScheduled(schedule, jobs, lastTime)
  const { active, trouble, waiting, again } = outcome
  report(object, outcome, context)
  const observed = { active, ended: jobs.kept, lastTime: outcome.lastTime, trouble, waiting }
  await patchStatusIfChanged(client, cronJob, object, statusOf(object, observed, clock.now()))
  // The status must be written before the Jobs are deleted, because the annotations of these Jobs may be the only other record of the
  // latest scheduled time.
  const isClean = await deleteSurplus(object, jobs.surplus, context)
  if (again === 'soon') return { requeue: true }
  const at = Math.min(again ?? Infinity, isClean ? Infinity : clock.now() + refusedRetryMs)
  return at === Infinity ? undefined : { requeueAfterMs: at - clock.now() }
}

function notScheduled(problems: readonly { readonly message: string }[], { active }: Jobs, lastTime: number): Outcome {
  const message = `spec.schedule: ${problems.map((problem) => problem.message).join('; ')}`
  return { active, lastTime, trouble: { reason: 'InvalidSchedule', message } }
}

async function startDueJob(
  object: DeepReadonly<CronJob>,
  schedule: Schedule,
  { jobs: { active }, lastTime }: { readonly jobs: Jobs; readonly lastTime: number },
  context: ReconcileContext,
): Promise<Outcome> {
  const { clock, events } = context
  const { metadata, spec } = object
  if (spec.suspend) return { active, lastTime }
  const now = clock.now()
  const again = schedule.next(now)
  const since = lastTime || Date.parse(metadata.creationTimestamp)
  const due = dueTime(spec, { schedule, since, now, isActive: active.length > 0 })
  if (due === undefined) return { active, lastTime, again }
  const { time, deadline } = due
  if (due.action === 'late') {
    const message = `The Job of ${formatTime(time)} was not started within ${spec.startingDeadlineSeconds} s.`
    return { active, lastTime, again, trouble: { reason: 'MissedSchedule', message } }
  }
  if (due.action === 'wait') return { active, lastTime, again: Math.min(again, deadline), waiting: time }
  const replaced = spec.concurrencyPolicy === 'Replace' ? active : []
  try {
    for (const job of replaced) await deleteJob(job, object, context)
  } catch (error) {
    if (!isApiError(error) || !isRefusal(error)) throw error
    const message = `An active Job cannot be replaced: ${error.message}`
    return { active, lastTime, again: Math.min(again, now + refusedRetryMs), trouble: { reason: 'JobDeletionFailed', message } }
  }
  const others = active.filter((job) => !replaced.includes(job))
  const started = await startJob(object, time, context)
  if (started.trouble !== undefined) {
    const retry = started.isRefused ? Math.min(again, now + refusedRetryMs) : ('soon' as const)
    return { active: others, lastTime, again: retry, trouble: started.trouble }
  }
  if (due.isManyMissed)
    events.event(object, 'Warning', 'TooManyMissedTimes', `More than ${fewMissed} scheduled times were missed; only the latest has a Job`)
  return { active: [...others, ...started.active], lastTime: time, again }
}

const eventReasons: Readonly<Record<Trouble['reason'], string>> = {
  InvalidSchedule: 'InvalidSchedule',
  JobCreationFailed: 'FailedCreate',
  JobDeletionFailed: 'FailedDelete',
  MissedSchedule: 'MissedSchedule',
  NameConflict: 'NameConflict',
}

/**
 * Records an Event for a problem, and an Event for a waiting Job. If the stored status already contains the reason and the message of an
 * Event, the Event is not recorded again.
 */
function report(object: DeepReadonly<CronJob>, { trouble, waiting }: Outcome, { events }: ReconcileContext): void {
  if (trouble !== undefined && !isKnown(object, 'Degraded', trouble)) {
    events.event(object, 'Warning', eventReasons[trouble.reason], trouble.message)
  }
  if (waiting === undefined) return
  const { reason, message = '' } = activity(waiting)
  if (!isKnown(object, 'Progressing', { reason, message })) events.event(object, 'Normal', 'JobAlreadyActive', message)
}

/**
 * Deletes Jobs. Resolves with false if a Job could not be deleted. The error is not thrown, because the back-off after an error would delay
 * the next Job.
 */
async function deleteSurplus(object: DeepReadonly<CronJob>, surplus: readonly Job[], context: ReconcileContext): Promise<boolean> {
  let isClean = true
  for (const job of surplus) {
    try {
      await deleteJob(job, object, context)
    } catch (error) {
      context.logger.warn({ err: error, job: job.metadata.name }, 'an old Job could not be deleted')
      isClean = false
    }
  }
  return isClean
}
