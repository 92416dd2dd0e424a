/**
 * The built-in kinds of the group `batch`. Each kind has a `ResourceType`, such as `batch.job`, and a TypeScript type of its objects, such
 * as `batch.Job`.
 */
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
