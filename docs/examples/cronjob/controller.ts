/** The controller of CronJobs: creates Jobs at the scheduled times, and deletes old ones. */
import { batch, controllerOf, controllerReference, defineCacheIndex, defineController, keyOf, patchStatusIfChanged } from 'proreus'
import type { DeepReadonly, ReconcileContext } from 'proreus'
import { cronJob, type CronJob } from './kind.ts'
import { latestTime, nextTime } from './schedule.ts'

type Job = DeepReadonly<batch.Job>
const scheduledAt = 'batch.tutorial.kubebuilder.io/scheduled-at'
const jobsByOwner = defineCacheIndex(batch.job, 'owner', (job) => controllerOf(job)?.uid)

export const controller = defineController(cronJob, {
  owns: [batch.job],
  indexes: [jobsByOwner],
  rbac: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }],
  async reconcile(object, context) {
    const { metadata, spec, status } = object
    if (metadata.deletionTimestamp !== undefined) return
    const now = context.clock.now()
    const jobs = context.cache.list(batch.job, { index: [jobsByOwner, metadata.uid] }).toSorted((a, b) => timeOf(b) - timeOf(a))
    const { active = [], complete = [], failed = [] } = Object.groupBy(jobs, stateOf)
    // The status counts, too: no Job may be left. And the Jobs count: the operator may have ended before it wrote the status.
    const last = Math.max(parseTime(status?.lastScheduleTime), ...jobs.map(timeOf))
    const due = spec.suspend ? undefined : dueTime(object, last, active, context)
    const surplus = [...complete.slice(spec.successfulJobsHistoryLimit), ...failed.slice(spec.failedJobsHistoryLimit)]
    for (const job of surplus) await deleteJob(job, object, context)
    if (due !== undefined) {
      if (spec.concurrencyPolicy === 'Replace') for (const job of active.splice(0)) await deleteJob(job, object, context)
      active.unshift(await createJob(object, due, context))
    }
    await patchStatusIfChanged(context.client, cronJob, object, {
      active: active.map(({ apiVersion, kind, metadata: { namespace, name, uid } }) => ({ apiVersion, kind, namespace, name, uid })),
      lastScheduleTime: (due ?? last) > 0 ? new Date(due ?? last).toISOString() : undefined,
    })
    return spec.suspend ? undefined : { requeueAfterMs: nextTime(spec.schedule, now) - context.clock.now() }
  },
})

/** Returns the scheduled time of the Job to create now. Of several missed times, only the latest counts. */
function dueTime(object: DeepReadonly<CronJob>, last: number, active: readonly Job[], { clock, events }: ReconcileContext) {
  const { schedule, startingDeadlineSeconds = Infinity, concurrencyPolicy } = object.spec
  const time = latestTime(schedule, clock.now())
  if (time <= Math.max(last, parseTime(object.metadata.creationTimestamp))) return undefined
  if (time + startingDeadlineSeconds * 1000 < clock.now()) {
    events.event(object, 'Warning', 'MissedSchedule', `It is too late for the Job of ${new Date(time).toISOString()}`)
  } else if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    events.event(object, 'Normal', 'JobAlreadyActive', `The Job of ${new Date(time).toISOString()} waits for the active one`)
  } else return time
  return undefined
}

/** Creates the Job of a scheduled time. The time is part of its name, so that the API server refuses a second Job for it. */
async function createJob(object: DeepReadonly<CronJob>, time: number, { client, events }: ReconcileContext): Promise<Job> {
  const { jobTemplate } = object.spec
  const labels = { ...jobTemplate.metadata?.labels }
  const name = `${object.metadata.name}-${time / 1000}`
  const annotations = { ...jobTemplate.metadata?.annotations, [scheduledAt]: new Date(time).toISOString() }
  const metadata = { ...keyOf(object), name, labels, annotations, ownerReferences: [controllerReference(object)] }
  try {
    const job = await client.create(batch.job, { ...jobTemplate, metadata })
    events.event(object, 'Normal', 'SuccessfulCreate', `Created Job ${name}`)
    return job
  } catch (error) {
    events.event(object, 'Warning', 'FailedCreate', `Job ${name}: ${String(error)}`)
    throw error
  }
}

async function deleteJob(job: Job, owner: DeepReadonly<CronJob>, { client, events }: ReconcileContext): Promise<void> {
  // Without a policy, the API server keeps the Pods of a deleted Job.
  await client.delete(batch.job, keyOf(job), { propagationPolicy: 'Background', preconditions: { uid: job.metadata.uid } })
  events.event(owner, 'Normal', 'SuccessfulDelete', `Deleted Job ${job.metadata.name}`)
}

function stateOf({ status }: Job) {
  const is = (type: string) => status?.conditions?.some((condition) => condition.type === type && condition.status === 'True')
  return is('Complete') ? 'complete' : is('Failed') ? 'failed' : 'active'
}

const parseTime = (text: string | undefined): number => Date.parse(text ?? '') || 0
const timeOf = (job: Job): number => parseTime(job.metadata.annotations?.[scheduledAt])
