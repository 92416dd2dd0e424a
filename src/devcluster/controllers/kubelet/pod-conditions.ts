/** The conditions that the kubelet writes to the status of a Pod (k8s.io/kubernetes/pkg/kubelet/status: Generate…Condition). */
import { formatTime } from '../../../api/conditions.ts'
import type { ReadonlyPod } from '../api-types.ts'
import type { PodPhase } from './pod-phase.ts'
import { isSidecar } from './restart-policy.ts'
import type { Container } from './container.ts'
import type { PodWorker } from './pod-worker.ts'
import { succeeded } from './pod-worker.ts'

interface Finding {
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

const isTrue: Finding = { status: 'True' }
const ownTypes = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'] as const

/**
 * Returns all conditions of a Pod. The conditions of the kubelet are computed. The conditions that other clients have written are
 * unchanged.
 */
export function podConditions(worker: PodWorker, pod: ReadonlyPod, phase: PodPhase): object[] {
  const before = pod.status?.conditions ?? []
  const others = before.filter(({ type }) => !(ownTypes as readonly string[]).includes(type))
  const containersReady = readinessOf(worker, phase)
  const findings: Readonly<Record<(typeof ownTypes)[number], Finding>> = {
    PodReadyToStartContainers: worker.hasSandbox ? isTrue : { status: 'False' },
    Initialized: initialization(worker, phase),
    Ready: containersReady.status === 'True' ? gates(pod) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: isTrue,
  }
  const own = ownTypes.map((type) => {
    const { status, ...details } = findings[type]
    const known = before.find((condition) => condition.type === type)
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : formatTime(worker.changedAt)
    return { type, observedGeneration: pod.metadata.generation, status, ...details, lastProbeTime: null, lastTransitionTime }
  })
  const isEvicted = worker.outcome?.reason === 'Evicted' && !before.some(({ type }) => type === 'DisruptionTarget')
  return [...others, ...(isEvicted ? [disruption(worker, pod)] : []), ...own]
}

/** Returns the condition that an eviction by the kubelet adds (k8s.io/kubernetes/pkg/kubelet/eviction: managerImpl.synchronize). */
function disruption({ outcome, changedAt }: PodWorker, { metadata }: ReadonlyPod): object {
  return {
    type: 'DisruptionTarget',
    observedGeneration: metadata.generation,
    status: 'True',
    reason: 'TerminationByKubelet',
    message: outcome?.message,
    lastProbeTime: null,
    lastTransitionTime: formatTime(changedAt),
  }
}

function readinessOf({ init, regular }: PodWorker, phase: PodPhase): Finding {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const unready = [...init.filter(({ spec }) => isSidecar(spec)), ...regular].filter(({ isReady }) => !isReady)
  return listed('ContainersNotReady', 'containers with unready status', unready)
}

function initialization({ init, regular }: PodWorker, phase: PodPhase): Finding {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' }
  if (regular.some(({ state, last }) => state.kind !== 'waiting' || last !== undefined)) return isTrue
  const incomplete = init.filter(({ spec, state, isStarted }) => (isSidecar(spec) ? !isStarted : !succeeded(state)))
  return listed('ContainersNotInitialized', 'containers with incomplete status', incomplete)
}

function listed(reason: string, text: string, containers: readonly Container[]): Finding {
  if (containers.length === 0) return isTrue
  return { status: 'False', reason, message: `${text}: [${containers.map(({ spec }) => spec.name).join(' ')}]` }
}

function gates({ spec, status }: ReadonlyPod): Finding {
  const unready = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = status?.conditions?.find(({ type }) => type === conditionType)
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    return condition.status === 'True' ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`]
  })
  return unready.length === 0 ? isTrue : { status: 'False', reason: 'ReadinessGatesNotReady', message: unready.join(', ') }
}
