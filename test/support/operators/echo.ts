/** Echos and ScheduledEchos with their Jobs and CronJobs, as the API server stores them. */
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import { cronJobFor, jobFor } from '../../../src/operators/echo/children.ts'
import type { Echo, ScheduledEcho } from '../../../src/operators/echo/kind.ts'

const metadata = { namespace: 'test', name: 'a', uid: 'u', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }

export function anEcho(message = 'Hola', change: Partial<Echo['metadata']> = {}): Echo {
  return { apiVersion: 'mmontes.io/v1alpha1', kind: 'Echo', metadata: { ...metadata, ...change }, spec: { message } } as Echo
}

export function aScheduledEcho(spec: Partial<ScheduledEcho['spec']> = {}, change: Partial<ScheduledEcho['metadata']> = {}): ScheduledEcho {
  return {
    apiVersion: 'mmontes.io/v1alpha1',
    kind: 'ScheduledEcho',
    metadata: { ...metadata, ...change },
    spec: { message: 'Hola', schedule: '@daily', ...spec },
  } as ScheduledEcho
}

/** Returns the Job of an Echo as the API server stores it. */
export function aJob(owner: Echo, status: object = {}, change: object = {}): batch.Job {
  const job = jobFor(owner)
  return { ...job, metadata: { ...job.metadata, uid: 'job', ...change }, status } as unknown as batch.Job
}

/** Returns the CronJob of a ScheduledEcho as the API server stores it. */
export function aCronJob(owner: ScheduledEcho, status: object = {}): batch.CronJob {
  const cronJob = cronJobFor(owner)
  return { ...cronJob, metadata: { ...cronJob.metadata, uid: 'cron-job' }, status } as unknown as batch.CronJob
}
