/** The built-in types of the group `batch`: resource types such as `batch.job`, and static types of their objects such as `batch.Job`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace batch {
  type Job = NamespacedObject<models.V1Job, 'batch/v1', 'Job'>
  type CronJob = NamespacedObject<models.V1CronJob, 'batch/v1', 'CronJob'>
  type JobSpec = models.V1JobSpec
  type CronJobSpec = models.V1CronJobSpec
}

export const batch = {
  job: namespacedType<batch.Job>('batch', 'v1', 'Job', 'jobs'),
  cronJob: namespacedType<batch.CronJob>('batch', 'v1', 'CronJob', 'cronjobs'),
} as const
