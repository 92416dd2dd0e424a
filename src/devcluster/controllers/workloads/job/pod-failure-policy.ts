/** Applies the `spec.podFailurePolicy` of a Job to its failed Pods (k8s.io/kubernetes/pkg/controller/job: matchPodFailurePolicy). */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { models } from '../../../../api/kubernetes/models.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'

type Job = DeepReadonly<batch.Job>
type ExitCodes = DeepReadonly<models.V1PodFailurePolicyOnExitCodesRequirement>

/** The action of the first rule that matches a failed Pod. */
interface Decision {
  readonly action: string
  /** The message of the Job's condition, if the action is `FailJob`. */
  readonly message: string
}

function decisionOn(job: Job, pod: ReadonlyPod): Decision | undefined {
  const { namespace, name } = pod.metadata
  for (const [index, { action, onExitCodes, onPodConditions = [] }] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const rule = `matching ${action} rule at index ${index}`
    if (onExitCodes !== undefined) {
      const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
      const container = [...containerStatuses, ...initContainerStatuses].find((one) => hasExitCode(one, onExitCodes))
      if (container === undefined) continue
      const { exitCode } = container.state?.terminated ?? {}
      return { action, message: `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${exitCode} ${rule}` }
    }
    const isMatch = (condition: { readonly type: string; readonly status: string }): boolean =>
      onPodConditions.some(({ type, status = 'True' }) => type === condition.type && status === condition.status)
    const condition = pod.status?.conditions?.find(isMatch)
    if (condition !== undefined) return { action, message: `Pod ${namespace}/${name} has condition ${condition.type} ${rule}` }
  }
  return undefined
}

function hasExitCode(
  { name, state }: { readonly name: string; readonly state?: { readonly terminated?: { readonly exitCode: number } } },
  { containerName, operator, values }: ExitCodes,
): boolean {
  const { exitCode } = state?.terminated ?? {}
  if (exitCode === undefined || exitCode === 0 || (containerName ?? name) !== name) return false
  return operator === 'In' ? values.includes(exitCode) : operator === 'NotIn' && !values.includes(exitCode)
}

/** Returns false if a rule with the action `Ignore` matches the failed Pod. Such a Pod does not count towards the back-off limits. */
export function countsAsFailure(job: Job, pod: ReadonlyPod): boolean {
  return decisionOn(job, pod)?.action !== 'Ignore'
}

/** Returns true if a rule with the action `FailIndex` matches the failed Pod. The index of such a Pod gets no further Pod. */
export function failsIndex(job: Job, pod: ReadonlyPod): boolean {
  return decisionOn(job, pod)?.action === 'FailIndex'
}

/** Returns the message for the Job's condition if a rule with the action `FailJob` matches one of these Pods; otherwise undefined. */
export function failJobMessage(job: Job, failed: readonly ReadonlyPod[]): string | undefined {
  const decisions = failed.map((pod) => decisionOn(job, pod))
  return decisions.find((decision) => decision?.action === 'FailJob')?.message
}
