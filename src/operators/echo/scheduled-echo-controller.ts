/** The controller of ScheduledEchos: it creates and updates the CronJob of a ScheduledEcho. */
import {
  batch,
  defineController,
  findCondition,
  hasFields,
  isApiError,
  isControlledBy,
  keyOf,
  mergeConditions,
  patchStatusIfChanged,
} from 'proreus'
import type { ConditionInput, DeepReadonly, ReconcileContext, Result } from 'proreus'
import { cronJobFor } from './children.ts'
import { scheduledEcho, type ScheduledEcho } from './kind.ts'

/**
 * The retry interval in milliseconds when a CronJob cannot be created or updated. A retry can only succeed after a user has removed the
 * cause.
 */
const refusedRetryMs = 30_000

export const scheduledEchoController = defineController(scheduledEcho, {
  name: 'scheduledecho',
  owns: [batch.cronJob],
  workers: 4,
  rbac: [{ apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['create', 'patch'] }],
  async reconcile(object, context): Promise<Result> {
    if (object.metadata.deletionTimestamp !== undefined) return
    const { cronJob, refusal } = await writeCronJob(object, context)
    await writeStatus(object, cronJob, refusal, context)
    if (refusal !== undefined) return { requeueAfterMs: refusedRetryMs }
  },
})

interface Written {
  readonly cronJob: DeepReadonly<batch.CronJob> | undefined
  /** The reason why the CronJob cannot be created or updated. */
  readonly refusal?: { readonly reason: string; readonly message: string }
}

async function writeCronJob(object: DeepReadonly<ScheduledEcho>, { cache, client, events }: ReconcileContext): Promise<Written> {
  const key = keyOf(object)
  const wanted = cronJobFor(object)
  const live = cache.get(batch.cronJob, key)
  const refused = (reason: string, message: string, cronJob?: Written['cronJob']): Written => {
    const known = findCondition(object.status?.conditions, 'Degraded')
    if (known?.reason !== reason || known.message !== message) events.event(object, 'Warning', reason, message)
    return { cronJob, refusal: { reason, message } }
  }
  if (live !== undefined && !isControlledBy(live, object))
    return refused('NameConflict', `The CronJob ${key.name} belongs to somebody else.`)
  if (hasFields(live, wanted)) return { cronJob: live }
  try {
    const cronJob = await client.apply(batch.cronJob, wanted)
    events.event(
      object,
      'Normal',
      live === undefined ? 'Created' : 'Updated',
      `CronJob ${key.name} with the schedule ${object.spec.schedule}`,
    )
    return { cronJob }
  } catch (error) {
    if (!isApiError(error) || (error.statusCode !== 403 && error.statusCode !== 422)) throw error
    const isSchedule = error.causes.some(({ field }) => field === 'spec.schedule')
    // An existing CronJob continues with its previous spec.
    return refused(isSchedule ? 'InvalidSchedule' : 'CronJobRefused', error.message, live)
  }
}

async function writeStatus(
  object: DeepReadonly<ScheduledEcho>,
  cronJob: Written['cronJob'],
  refusal: Written['refusal'],
  { client, clock }: ReconcileContext,
): Promise<void> {
  const { generation } = object.metadata
  const { lastScheduleTime = null, lastSuccessfulTime = null, active = [] } = cronJob?.status ?? {}
  const conditions: ConditionInput[] =
    refusal === undefined
      ? [
          { type: 'Scheduled', status: 'True', reason: 'CronJobApplied', message: '' },
          { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' },
        ]
      : [
          { type: 'Scheduled', status: 'False', ...refusal },
          { type: 'Degraded', status: 'True', ...refusal },
        ]
  await patchStatusIfChanged(client, scheduledEcho, object, {
    cronJobName: cronJob?.metadata.name ?? null,
    lastScheduleTime,
    lastSuccessfulTime,
    active: active.map(({ name = '' }) => name).sort(),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, conditions, { now: clock.now(), generation }),
  })
}
