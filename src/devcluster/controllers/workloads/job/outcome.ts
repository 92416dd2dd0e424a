/** Decides whether a Job has failed or is complete, and for which reason. */
import { findCondition } from '../../../../api/conditions.ts'
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import type { Counts } from './counts.ts'
import { failJobMessage } from './pod-failure-policy.ts'
import { hasFailed } from './pods.ts'
import { satisfiedRule } from './success-policy.ts'

type Job = DeepReadonly<batch.Job>

/**
 * The decision that a Job has failed or succeeded. The Job first gets the condition `target`. When no Pod of the Job is active or
 * terminating, the Job also gets the condition `Failed` or `Complete`, with the same reason and message.
 */
export interface Outcome {
  readonly target: 'FailureTarget' | 'SuccessCriteriaMet'
  readonly reason: string
  readonly message: string
}

/** Returns true when the Job is complete or has failed. */
export function isFinished({ status }: Job): boolean {
  return ['Complete', 'Failed'].some((type) => findCondition(status?.conditions, type)?.status === 'True')
}

/** Returns the outcome that an earlier reconcile has written to the conditions of the Job; undefined if no outcome has been decided. */
export function earlierOutcome({ status }: Job): Outcome | undefined {
  for (const target of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = findCondition(status?.conditions, target)
    if (condition?.status === 'True') return { target, reason: condition.reason ?? '', message: condition.message ?? '' }
  }
  return undefined
}

/**
 * Returns the outcome of a Job that has failed. Returns undefined if the Job has not failed. A Job fails in each of these cases:
 *
 * - A failed Pod matches a rule with the action `FailJob`.
 * - There are too many failed Pods, restarts or failed indexes.
 * - All indexes have succeeded or failed, and at least one index has failed.
 * - The deadline of the Job has passed.
 *
 * @param failed the number of failed Pods that count towards `backoffLimit`.
 */
export function failureOf(job: Job, pods: readonly ReadonlyPod[], failed: number, counts: Counts, now: number): Outcome | undefined {
  const { backoffLimit = 6, maxFailedIndexes = Infinity, completions = 0 } = job.spec ?? {}
  const failure = (reason: string, message: string): Outcome => ({ target: 'FailureTarget', reason, message })
  const message = failJobMessage(
    job,
    pods.filter((pod) => hasFailed(pod, job)),
  )
  if (message !== undefined) return failure('PodFailurePolicy', message)
  if (failed > backoffLimit || hasTooManyRestarts(job, pods))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  const left = deadlineInMs(job, now)
  if (left !== undefined && left <= 0) return failure('DeadlineExceeded', 'Job was active longer than specified deadline')
  const { indexes, failedIndexes } = counts
  if (indexes === undefined || failedIndexes === undefined) return undefined
  if (failedIndexes.size > maxFailedIndexes)
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
  const isEnd = failedIndexes.size > 0 && failedIndexes.size + indexes.size >= completions
  return isEnd ? failure('FailedIndexes', 'Job has failed indexes') : undefined
}

/**
 * Returns the outcome of an Indexed Job whose success policy is satisfied. Pods of this Job can still be active. Returns undefined for all
 * other Jobs.
 */
export function earlySuccessOf(job: Job, { indexes }: Counts): Outcome | undefined {
  const rule = indexes === undefined ? undefined : satisfiedRule(job, indexes)
  return rule === undefined
    ? undefined
    : { target: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message: `Matched rules at index ${rule}` }
}

/** Returns the outcome of a Job when enough Pods have succeeded and no Pod is active. Returns undefined for any other Job. */
export function successOf({ spec }: Job, succeeded: number, active: number): Outcome | undefined {
  if (active > 0 || succeeded < (spec?.completions ?? 1)) return undefined
  return { target: 'SuccessCriteriaMet', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
}

/**
 * Returns the time in milliseconds until `activeDeadlineSeconds` have passed; undefined when the Job has no deadline, is suspended, or has
 * not started.
 */
export function deadlineInMs({ spec, status }: Job, now: number): number | undefined {
  const { activeDeadlineSeconds, suspend } = spec ?? {}
  if (activeDeadlineSeconds === undefined || suspend === true || status?.startTime === undefined) return undefined
  return Date.parse(status.startTime) + activeDeadlineSeconds * 1000 - now
}

/**
 * Returns true when containers have been restarted too often. Containers are restarted only with the restart policy `OnFailure`. With the
 * policy `Never`, the Job replaces failed Pods instead (k8s.io/kubernetes/pkg/controller/job: pastBackoffLimitOnFailure).
 */
function hasTooManyRestarts({ spec }: Job, pods: readonly ReadonlyPod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
  const containers = running.flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const { backoffLimit = 6 } = spec
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
}
