/** The status of a MyPod, derived from its Pod and the last reconcile. */
import { mergeConditions } from 'proreus'
import type { ConditionInput, core, DeepReadonly, StatusPatch } from 'proreus'
import type { mypod, MyPod } from './kind.ts'

/** The parts of a reconcile's outcome that cannot be derived from the Pod. */
export interface Outcome {
  readonly degraded?: { readonly reason: 'NameConflict' | 'PodCreateFailed'; readonly message: string }
  readonly progressing?: { readonly reason: 'Creating' | 'Recreating'; readonly message: string }
}

const fromPod = ['podPhase', 'podIp', 'nodeIp', 'createdTimestamp'] as const

/**
 * Returns a patch of the status. A field of the status for which the Pod has no value is null in the patch. The patch thus removes this
 * field.
 */
export function statusOf(
  object: DeepReadonly<MyPod>,
  pod: DeepReadonly<core.Pod> | undefined,
  outcome: Outcome,
  now: number,
): StatusPatch<typeof mypod> {
  const observed = observe(pod)
  const generation = object.metadata.generation
  return {
    ...Object.fromEntries(fromPod.map((field) => [field, observed[field] ?? null])),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, conditionsOf(pod, outcome), { now, generation }),
  }
}

function observe(pod: DeepReadonly<core.Pod> | undefined): Pick<NonNullable<MyPod['status']>, (typeof fromPod)[number]> {
  if (pod === undefined) return {}
  const { phase, podIP, hostIP } = pod.status ?? {}
  return {
    ...(phase && { podPhase: phase }),
    ...(podIP && { podIp: podIP }),
    ...(hostIP && { nodeIp: hostIP }),
    createdTimestamp: Math.floor(Date.parse(pod.metadata.creationTimestamp) / 1000),
  }
}

function conditionsOf(pod: DeepReadonly<core.Pod> | undefined, { degraded, progressing }: Outcome): ConditionInput[] {
  return [
    readyCondition(pod, degraded),
    degraded === undefined
      ? { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' }
      : { type: 'Degraded', status: 'True', ...degraded },
    progressing === undefined
      ? { type: 'Progressing', status: 'False', reason: 'AsExpected', message: '' }
      : { type: 'Progressing', status: 'True', ...progressing },
  ]
}

function readyCondition(pod: DeepReadonly<core.Pod> | undefined, degraded: Outcome['degraded']): ConditionInput {
  if (pod === undefined)
    return { type: 'Ready', status: 'False', reason: degraded?.reason ?? 'NoPod', message: degraded?.message ?? 'There is no Pod yet.' }
  if (pod.metadata.deletionTimestamp !== undefined)
    return { type: 'Ready', status: 'False', reason: 'PodTerminating', message: 'The Pod is being deleted.' }
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return { type: 'Ready', status: 'True', reason: 'PodReady', message: '' }
  return {
    type: 'Ready',
    status: 'False',
    reason: ready?.reason ?? `Pod${pod.status?.phase ?? 'Pending'}`,
    message: ready?.message ?? 'The Pod is not ready.',
  }
}
