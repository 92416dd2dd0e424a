/** Functions that name, build and delete the Jobs of a CronJob (k8s.io/kubernetes/pkg/controller/cronjob). */
import { findCondition, formatTime } from '../../../../api/conditions.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import { controllerReference } from '../../../../api/owner-reference.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import { offsetsOf } from '../../../../api/time-zone.ts'
import { controllerIndex } from '../dependents.ts'

export type CronJob = DeepReadonly<batch.CronJob>
export type Job = DeepReadonly<batch.Job>

/** The annotation that contains the scheduled time of a Job. */
const scheduledTimestamp = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

export const jobsByController = controllerIndex(batch.job)

/** Returns the type of the condition that reports the end of a Job. Returns undefined if the Job has not finished. */
export function finishedAs({ status }: Job): 'Complete' | 'Failed' | undefined {
  return (['Complete', 'Failed'] as const).find((type) => findCondition(status?.conditions, type)?.status === 'True')
}

/**
 * Returns the name of the Job for a scheduled time. Each call returns the same name for the same time, so the API server rejects a second Job
 * for this time (…/cronjob: getJobName).
 */
export function jobName({ metadata }: CronJob, time: number): string {
  return `${metadata.name}-${Math.floor(time / 60_000)}`
}

/** Returns the Job for a scheduled time (…/cronjob: getJobFromTemplate2). */
export function jobOf(cronJob: CronJob, time: number): ObjectInput<batch.Job> {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec
  const { labels, annotations } = jobTemplate.metadata ?? {}
  return {
    metadata: {
      name: jobName(cronJob, time),
      namespace: cronJob.metadata.namespace,
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [scheduledTimestamp]: formatLocalTime(time, timeZone) },
      ownerReferences: [controllerReference(cronJob)],
    },
    spec: jobTemplate.spec,
  } as unknown as ObjectInput<batch.Job>
}

/** Formats a time as RFC 3339, with the offset that the time zone has at this time. */
function formatLocalTime(time: number, timeZone: string): string {
  const minutes = offsetsOf(timeZone)(time) / 60_000
  if (minutes === 0) return formatTime(time)
  const two = (number: number): string => String(Math.trunc(Math.abs(number))).padStart(2, '0')
  return formatTime(time + minutes * 60_000).replace('Z', `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`)
}

/**
 * Deletes a Job. The garbage collector then deletes the Pods of the Job. An Event reports the success or the failure of the request.
 *
 * @throws the API server's error when the request fails.
 */
export async function deleteJob(job: Job, cronJob: CronJob, { client, events }: ReconcileContext): Promise<void> {
  const { name, uid } = job.metadata
  try {
    await client.delete(batch.job, job.metadata, { propagationPolicy: 'Background', preconditions: { uid } })
  } catch (error) {
    if (error instanceof Error) events.event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${error.message}`)
    throw error
  }
  events.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
}
