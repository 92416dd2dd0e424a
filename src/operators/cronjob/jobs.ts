/** The Jobs of a CronJob. */
import { batch, cacheView, controllerOf, controllerReference, defineCacheIndex, formatTime, isConflict, isNotFound, keyOf } from 'proreus'
import type { DeepReadonly, ReconcileContext } from 'proreus'
import type { CronJob } from './kind.ts'

export type Job = DeepReadonly<batch.Job>

/** The annotation that contains the scheduled time of a Job. */
export const scheduledAt = 'batch.tutorial.kubebuilder.io/scheduled-at'
/** Maximum length of the annotation `scheduledAt` in the cache. A longer text cannot be a time. */
const maxTimeLength = 64

/** To save memory, the cache contains only the fields that the operator reads. Other clients can create very large Jobs. */
export const jobView = cacheView(batch.job, {
  transform: ({ apiVersion, kind, metadata, status }): batch.Job => {
    const { labels: _labels, annotations, ...rest } = metadata
    const time = annotations?.[scheduledAt]
    const kept = time === undefined ? rest : { ...rest, annotations: { [scheduledAt]: time.slice(0, maxTimeLength) } }
    return { apiVersion, kind, metadata: kept, ...(status !== undefined && { status }) }
  },
})

/**
 * The index of Jobs by the uid of their owner. The index does not use the name of the owner. If a CronJob is deleted and a new CronJob with
 * the same name is created, Jobs of the deleted CronJob can still exist. The owner of these Jobs has a different uid than the new CronJob.
 */
export const jobsByOwner = defineCacheIndex(jobView, 'owner', (job) => controllerOf(job)?.uid)

export interface Jobs {
  readonly active: readonly Job[]
  /** The ended Jobs that the history limits keep. The newest Job is last. */
  readonly kept: readonly Job[]
  /** The ended Jobs that must be deleted. */
  readonly surplus: readonly Job[]
}

/** Classifies the Jobs of a CronJob. */
export function classify(jobs: readonly Job[], { spec }: DeepReadonly<CronJob>): Jobs {
  const { active = [], complete = [], failed = [] } = Object.groupBy(jobs.toSorted(byStart), stateOf)
  const surplus = [
    ...complete.slice(0, Math.max(0, complete.length - spec.successfulJobsHistoryLimit)),
    ...failed.slice(0, Math.max(0, failed.length - spec.failedJobsHistoryLimit)),
  ]
  const kept = [...complete, ...failed].filter((job) => !surplus.includes(job)).sort(byStart)
  return { active, kept, surplus: surplus.filter(({ metadata }) => metadata.deletionTimestamp === undefined) }
}

export function stateOf({ status }: Job): 'active' | 'complete' | 'failed' {
  const is = (type: string) => status?.conditions?.some((condition) => condition.type === type && condition.status === 'True')
  return is('Complete') ? 'complete' : is('Failed') ? 'failed' : 'active'
}

/** Compares Jobs by start time, oldest first. A Job that never started counts as the oldest. */
function byStart(a: Job, b: Job): number {
  const startOf = ({ status }: Job) => Date.parse(status?.startTime ?? '') || 0
  return startOf(a) - startOf(b) || (a.metadata.name < b.metadata.name ? -1 : 1)
}

/**
 * Returns the newest scheduled time of the Jobs. Skips and logs a Job whose annotation is missing, invalid or in the future. If no Job
 * remains, returns 0.
 */
export function newestTime(jobs: readonly Job[], { clock, logger }: Pick<ReconcileContext, 'clock' | 'logger'>): number {
  let newest = 0
  for (const job of jobs) {
    const time = scheduledTime(job)
    // Times in the future are skipped. If the operator used a time in the far future, the CronJob would start no Jobs until that time.
    if (time <= clock.now()) newest = Math.max(newest, time)
    else logger.debug({ job: job.metadata.name }, `the annotation ${scheduledAt} of a Job is no time of the past`)
  }
  return newest
}

/** Returns the scheduled time of a Job in milliseconds since 1970; NaN when its annotation is missing or is not a time. */
export function scheduledTime({ metadata }: Job): number {
  return Date.parse(metadata.annotations?.[scheduledAt] ?? '')
}

/**
 * Returns the Job for a scheduled time. The name of the Job contains the time, so the API server refuses a second Job for the same time.
 */
export function jobFor(owner: DeepReadonly<CronJob>, time: number) {
  const { jobTemplate } = owner.spec
  const { labels = {}, annotations = {} } = jobTemplate.metadata ?? {}
  return {
    ...jobTemplate,
    metadata: {
      ...keyOf(owner),
      name: `${owner.metadata.name}-${time / 1000}`,
      labels,
      annotations: { ...annotations, [scheduledAt]: formatTime(time) },
      ownerReferences: [controllerReference(owner)],
    },
  }
}

export async function deleteJob(job: Job, owner: DeepReadonly<CronJob>, { client, events }: ReconcileContext): Promise<void> {
  const preconditions = { uid: job.metadata.uid }
  try {
    // Without a propagation policy, the API server does not delete the Pods of a deleted Job.
    await client.delete(batch.job, keyOf(job), { propagationPolicy: 'Background', preconditions })
  } catch (error) {
    // A conflict means that the Job with this uid is deleted, and another Job has the same name.
    if (isNotFound(error) || isConflict(error)) return
    throw error
  }
  events.event(owner, 'Normal', 'SuccessfulDelete', `Deleted Job ${job.metadata.name}`)
}
