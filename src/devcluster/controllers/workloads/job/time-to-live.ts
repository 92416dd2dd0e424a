/** Deletes finished Jobs after `spec.ttlSecondsAfterFinished` (k8s.io/kubernetes/pkg/controller/ttlafterfinished). */
import { findCondition } from '../../../../api/conditions.ts'
import { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import { isNotFound } from '../../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../../controller/builder.ts'
import { defineController } from '../../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../../controller/reconciler.ts'
import { retryRefused } from '../../retry-refused.ts'

type Job = DeepReadonly<batch.Job>

export function timeToLiveController(): ControllerDefinition {
  return defineController(batch.job, { name: 'job-ttl', resyncPeriodMs: 0, reconcile: retryRefused(deleteExpired) })
}

async function deleteExpired(job: Job, { client, clock }: ReconcileContext): Promise<Result> {
  const { metadata } = job
  const expiry = expiryOf(job)
  if (expiry === undefined || metadata.deletionTimestamp !== undefined) return undefined
  const left = expiry - clock.now()
  if (left > 0) return { requeueAfterMs: left }
  const options = { propagationPolicy: 'Foreground', preconditions: { uid: metadata.uid } } as const
  await client.delete(batch.job, metadata, options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  return undefined
}

/** Returns the time in milliseconds since 1970 at which the Job expires; undefined when the Job has not finished, or never expires. */
function expiryOf({ spec, status }: Job): number | undefined {
  const seconds = spec?.ttlSecondsAfterFinished
  const ends = ['Complete', 'Failed'].map((type) => findCondition(status?.conditions, type)).filter((one) => one?.status === 'True')
  return seconds === undefined || ends.length === 0 ? undefined : Date.parse(ends[0]!.lastTransitionTime ?? '') + seconds * 1000
}
