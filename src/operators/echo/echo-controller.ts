/** The controller of Echos: it runs one Job for each message of an Echo. */
import {
  batch,
  defineController,
  findCondition,
  formatTime,
  isAlreadyExists,
  isControlledBy,
  isForbidden,
  isInvalid,
  isNotFound,
  keyOf,
  mergeConditions,
  patchStatusIfChanged,
} from 'proreus'
import type { ConditionInput, DeepReadonly, ReconcileContext, Result } from 'proreus'
import { jobFor, jobView, messageHash } from './children.ts'
import { echo, type Echo } from './kind.ts'

/** The retry interval in milliseconds when a Job cannot be created. A retry can only succeed after a user has removed the cause. */
const refusedRetryMs = 30_000

interface Outcome {
  readonly complete: Omit<ConditionInput, 'type'>
  readonly failed: Omit<ConditionInput, 'type'>
  readonly progressing: Omit<ConditionInput, 'type'>
}

interface Refusal {
  readonly reason: 'NameConflict' | 'JobRefused'
  readonly message: string
}

function isRefusal(reason: string | undefined): boolean {
  return reason === 'NameConflict' || reason === 'JobRefused'
}

const no = { status: 'False', reason: 'AsExpected', message: '' } as const

export const echoController = defineController(echo, {
  name: 'echo',
  owns: [jobView],
  workers: 4,
  rbac: [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }],
  reconcile: reconcileEcho,
})

export async function reconcileEcho(object: DeepReadonly<Echo>, context: ReconcileContext): Promise<Result> {
  if (object.metadata.deletionTimestamp !== undefined) return
  const live = context.cache.get(jobView, keyOf(object))
  if (live === undefined) return hasEnded(object) ? undefined : createJob(object, context)
  if (!isControlledBy(live, object)) {
    // A Job with this name exists, but belongs to somebody else. If the Echo's own Job for the current message has already ended, the Echo
    // needs no Job until the message changes. The name conflict is therefore not reported yet.
    if (hasEnded(object)) return
    return refuse(object, { reason: 'NameConflict', message: `The Job ${live.metadata.name} belongs to somebody else.` }, context)
  }
  const wanted = jobFor(object)
  const isOfMessage = live.metadata.annotations?.[messageHash] === wanted.metadata.annotations[messageHash]
  // If the Job of the current message is being deleted, the status of the Echo determines whether a new Job is needed. If the status says
  // that the Job has ended, no new Job is needed. Otherwise, a new Job replaces the deleted Job.
  if (isOfMessage && (live.metadata.deletionTimestamp === undefined || hasEnded(object))) return reportJob(object, live, context)
  // The new Job has the same name as the old Job, so the operator cannot create the new Job yet. The deletion event of the old Job triggers
  // the reconcile that creates the new Job.
  const progressing = { status: 'True', reason: 'ReplacingJob', message: 'The Job of the message before is being deleted.' } as const
  await writeStatus(object, undefined, { complete: no, failed: no, progressing }, context)
  if (live.metadata.deletionTimestamp !== undefined) return
  const { uid } = live.metadata
  await context.client.delete(batch.job, keyOf(object), { propagationPolicy: 'Background', preconditions: { uid } }).catch(ignoreNotFound)
  context.events.event(object, 'Normal', 'Updated', `The message has changed: Job ${live.metadata.name} is replaced`)
}

/**
 * Writes a status that names no Job and whose condition Failed is true. If the stored condition Failed is not true, or has another reason
 * or message, also records an Event.
 */
async function refuse(object: DeepReadonly<Echo>, { reason, message }: Refusal, context: ReconcileContext): Promise<Result> {
  const known = findCondition(object.status?.conditions, 'Failed')
  if (known?.status !== 'True' || known.reason !== reason || known.message !== message)
    context.events.event(object, 'Warning', reason, message)
  await writeStatus(object, undefined, { complete: no, failed: { status: 'True', reason, message }, progressing: no }, context)
  return { requeueAfterMs: refusedRetryMs }
}

/**
 * Returns true if the status reports that the Job of the current message has ended. If the TTL or a user deletes this Job afterwards, no
 * Job is created for the same message.
 */
function hasEnded({ metadata, status }: DeepReadonly<Echo>): boolean {
  return ['Complete', 'Failed'].some((type) => {
    const condition = findCondition(status?.conditions, type)
    return condition?.status === 'True' && !isRefusal(condition.reason) && status?.observedGeneration === metadata.generation
  })
}

async function createJob(object: DeepReadonly<Echo>, context: ReconcileContext): Promise<Result> {
  const job = jobFor(object)
  let created: batch.Job
  try {
    created = await context.client.create(batch.job, job)
  } catch (error) {
    // The cache does not contain the existing Job yet. The next reconcile finds this Job in the cache.
    if (isAlreadyExists(error)) return { requeue: true }
    if (!isForbidden(error) && !isInvalid(error)) throw error
    return refuse(object, { reason: 'JobRefused', message: error.message }, context)
  }
  context.events.event(object, 'Normal', 'Created', `Job ${job.metadata.name}`)
  return reportJob(object, created, context)
}

async function reportJob(object: DeepReadonly<Echo>, job: DeepReadonly<batch.Job>, context: ReconcileContext): Promise<Result> {
  const condition = (type: string) => job.status?.conditions?.find((one) => one.type === type && one.status === 'True')
  const [complete, failed] = [condition('Complete'), condition('Failed')]
  const { name } = job.metadata
  const outcome: Outcome = {
    complete: complete === undefined ? no : { status: 'True', reason: 'JobComplete', message: `Job ${name} has printed the message.` },
    failed: failed === undefined ? no : { status: 'True', reason: failed.reason ?? 'JobFailed', message: failed.message ?? '' },
    progressing: (complete ?? failed) ? no : { status: 'True', reason: 'JobRunning', message: `Job ${name} has not ended yet.` },
  }
  const isNew = (type: string): boolean => findCondition(object.status?.conditions, type)?.status !== 'True'
  if (complete !== undefined && isNew('Complete')) context.events.event(object, 'Normal', 'JobComplete', outcome.complete.message ?? '')
  if (failed !== undefined && isNew('Failed')) context.events.event(object, 'Warning', 'JobFailed', outcome.failed.message ?? '')
  await writeStatus(object, job, outcome, context)
}

async function writeStatus(
  object: DeepReadonly<Echo>,
  job: DeepReadonly<batch.Job> | undefined,
  { complete, failed, progressing }: Outcome,
  { client, clock }: ReconcileContext,
): Promise<void> {
  const { generation } = object.metadata
  const conditions: ConditionInput[] = [
    { type: 'Complete', ...complete },
    { type: 'Failed', ...failed },
    { type: 'Progressing', ...progressing },
  ]
  await patchStatusIfChanged(client, echo, object, {
    jobName: job?.metadata.name ?? null,
    startTime: timeOf(job?.status?.startTime),
    completionTime: timeOf(job?.status?.completionTime),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, conditions, { now: clock.now(), generation }),
  })
}

function timeOf(time: string | undefined): string | null {
  return time === undefined ? null : formatTime(Date.parse(time))
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error
}
