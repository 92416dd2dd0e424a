/** Decides whether a Job has failed or is complete, and for which reason. */
import type { Pod } from '../../../../api/builtin.ts'
import { findCondition } from '../../../../api/conditions.ts'
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'

type Job = DeepReadonly<batch.Job>
type ReadonlyPod = DeepReadonly<Pod>

/**
 * The decision that a Job ends. The Job first gets the condition `target`. When none of its Pods runs any more, the Job also gets the
 * condition `Failed` or `Complete`, with the same reason and message.
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

/** Returns the outcome that the conditions of the Job already contain; undefined if they contain none. */
export function earlierOutcome({ status }: Job): Outcome | undefined {
  for (const target of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = findCondition(status?.conditions, target)
    if (condition?.status === 'True') return { target, reason: condition.reason ?? '', message: condition.message ?? '' }
  }
  return undefined
}

/** Returns the failure of the Job: too many failed Pods or restarts, or a passed deadline. Undefined if the Job has not failed. */
export function failureOf(job: Job, pods: readonly ReadonlyPod[], failed: number, now: number): Outcome | undefined {
  const { backoffLimit = 6 } = job.spec ?? {}
  if (failed > backoffLimit || hasTooManyRestarts(job, pods))
    return { target: 'FailureTarget', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const left = deadlineInMs(job, now)
  if (left === undefined || left > 0) return undefined
  return { target: 'FailureTarget', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' }
}

/** Returns the success of the Job if enough Pods have succeeded and no Pod is active; undefined otherwise. */
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
 * Returns true when containers have been restarted too often. Only the restart policy `OnFailure` restarts containers; otherwise, the Job
 * replaces failed Pods (k8s.io/kubernetes/pkg/controller/job: pastBackoffLimitOnFailure).
 */
function hasTooManyRestarts({ spec }: Job, pods: readonly ReadonlyPod[]): boolean {
  if (spec?.template.spec?.restartPolicy !== 'OnFailure') return false
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
  const containers = running.flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
  const restarts = containers.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const { backoffLimit = 6 } = spec
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit
}
