/** Kubernetes' own types of `batch`: `batch.job`, `batch.Job`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export type Job = NamespacedObject<models.V1Job, 'batch/v1', 'Job'>
export const job = namespacedType<Job>('batch', 'v1', 'Job', 'jobs')

export type CronJob = NamespacedObject<models.V1CronJob, 'batch/v1', 'CronJob'>
export const cronJob = namespacedType<CronJob>('batch', 'v1', 'CronJob', 'cronjobs')

export type JobSpec = models.V1JobSpec
export type CronJobSpec = models.V1CronJobSpec
