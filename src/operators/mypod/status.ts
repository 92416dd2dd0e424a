/** The status of a MyPod, derived from its Pod and the last reconcile. */
import { jsonEqual, mergeConditions } from 'proreus'
import type { Condition, ConditionInput, core, DeepReadonly, StatusPatch } from 'proreus'
import type { mypod, MyPod } from './kind.ts'

/** The parts of a reconcile's outcome that cannot be derived from the Pod. */
export interface Outcome {
  readonly degraded?: { readonly reason: 'NameConflict' | 'PodCreateFailed'; readonly message: string }
  readonly progressing?: { readonly reason: 'Creating' | 'Recreating'; readonly message: string }
}

const fromPod = ['podPhase', 'podIp', 'nodeIp', 'createdTimestamp'] as const

/** Returns a merge patch of the status, or undefined when the status is up to date. */
export function statusPatch(
  object: DeepReadonly<MyPod>,
  pod: DeepReadonly<core.Pod> | undefined,
  outcome: Outcome,
  now: number,
): { status: StatusPatch<typeof mypod> } | undefined {
  const current = (object.status ?? {}) as NonNullable<MyPod['status']>
  const observed = observe(pod)
  const generation = object.metadata.generation
  const wanted = {
    // A merge patch removes a field whose value is null. Fields that the current status does not have are omitted from the patch.
    ...Object.fromEntries(fromPod.map((field) => [field, observed[field] ?? (field in current ? null : undefined)])),
    observedGeneration: generation,
    conditions: mergeConditions(current.conditions as Condition[] | undefined, conditionsOf(pod, outcome), { now, generation }),
  }
  const unchanged = Object.entries(wanted).every(([field, value]) => jsonEqual(value, current[field as keyof typeof current]))
  return unchanged ? undefined : { status: wanted }
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
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return { type: 'Ready', status: 'True', reason: 'PodReady', message: '' }
  return {
    type: 'Ready',
    status: 'False',
    reason: ready?.reason ?? `Pod${pod.status?.phase ?? 'Pending'}`,
    message: ready?.message ?? 'The Pod is not ready.',
  }
}
