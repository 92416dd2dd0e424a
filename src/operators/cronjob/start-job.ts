/** Starts the Job of a scheduled time. */
import { batch, isAlreadyExists, isApiError, isControlledBy } from 'proreus'
import type { ApiError, DeepReadonly, NamespacedKey, ReconcileContext } from 'proreus'
import { jobFor, stateOf } from './jobs.ts'
import type { Job } from './jobs.ts'
import type { CronJob } from './kind.ts'
import type { Trouble } from './status.ts'

const refusals: ReadonlySet<number> = new Set([400, 403, 413, 422])

/** Returns true for an error that occurs at every retry of the request until a user removes the cause. */
export function isRefusal({ statusCode }: ApiError): boolean {
  return refusals.has(statusCode)
}

export interface StartedJob {
  /** Contains the started Job, or is empty if the started Job has already ended. */
  readonly active: readonly Job[]
  readonly trouble?: undefined
}
export interface NotStartedJob {
  readonly trouble: Trouble
  readonly isRefused: boolean
}

export async function startJob(
  object: DeepReadonly<CronJob>,
  time: number,
  context: ReconcileContext,
): Promise<StartedJob | NotStartedJob> {
  const { client, events } = context
  const wanted = jobFor(object, time)
  const { name } = wanted.metadata
  try {
    const job = await client.create(batch.job, wanted)
    events.event(object, 'Normal', 'SuccessfulCreate', `Created Job ${name}`)
    return { active: [job] }
  } catch (error) {
    if (isAlreadyExists(error)) return existingJob(object, wanted.metadata, context)
    if (!isApiError(error)) throw error
    const message = `Job ${name}: ${error.message}`
    return { trouble: { reason: 'JobCreationFailed', message }, isRefused: isRefusal(error) }
  }
}

/**
 * Handles an existing Job that has the name of the Job to start. An earlier reconcile of this CronJob can have created the existing Job,
 * because the cache can lag behind the API server.
 */
async function existingJob(
  object: DeepReadonly<CronJob>,
  key: NamespacedKey,
  { client }: ReconcileContext,
): Promise<StartedJob | NotStartedJob> {
  const live = await client.get(batch.job, key)
  if (isControlledBy(live, object)) return { active: stateOf(live) === 'active' ? [live] : [] }
  return { trouble: { reason: 'NameConflict', message: `The Job ${key.name} belongs to somebody else.` }, isRefused: true }
}
