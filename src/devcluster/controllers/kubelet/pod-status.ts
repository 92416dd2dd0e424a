/** Builds the status of a Pod from its simulated containers (k8s.io/kubernetes/pkg/kubelet: Kubelet.generateAPIPodStatus). */
import { createHash } from 'node:crypto'
import { formatTime } from '../../../api/conditions.ts'
import type { ReadonlyPod } from '../scheduler/place-pod.ts'
import { endedJson, stateJson } from './container-state.ts'
import { podConditions } from './pod-conditions.ts'
import { phaseOf } from './pod-phase.ts'
import { isSidecar } from './restart-policy.ts'
import type { SimulatedContainer } from './simulated-container.ts'
import type { SimulatedPod } from './simulated-pod.ts'
import { succeeded } from './simulated-pod.ts'

export interface PodPlace {
  readonly hostIP: string
  /** The address of the Pod. A Pod with `hostNetwork` has the one of its node. */
  readonly podIP: string
}

/** Returns the status of a Pod. */
export function podStatus(simulated: SimulatedPod, pod: ReadonlyPod, { hostIP, podIP }: PodPlace): object {
  const phase = phaseOf(simulated, pod)
  const { end, ephemeral } = simulated
  return {
    phase,
    observedGeneration: pod.metadata.generation,
    ...(end?.reason !== undefined && { reason: end.reason, message: end.message }),
    conditions: podConditions(simulated, pod, phase),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: pod.status?.startTime ?? formatTime(simulated.startedAt),
    initContainerStatuses: simulated.init.map((one) => initStatus(pod, one)),
    containerStatuses: sorted(simulated.regular).map((one) => containerStatus(pod, one)),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: sorted(ephemeral).map((one) => containerStatus(pod, one)) }),
  }
}

function sorted(containers: readonly SimulatedContainer[]): readonly SimulatedContainer[] {
  return [...containers].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1))
}

/** Returns the status of an init container or a sidecar. Such a container is also ready after it has succeeded. */
function initStatus(pod: ReadonlyPod, container: SimulatedContainer): object {
  return { ...containerStatus(pod, container), ready: isSidecar(container.spec) ? container.isReady : succeeded(container.state) }
}

function containerStatus(pod: ReadonlyPod, { spec, state, last, restartCount, isReady, isStarted }: SimulatedContainer): object {
  const { name, image = '' } = spec
  const id = (restarts: number): string => `simulated://${digest(`${pod.metadata.uid}/${name}/${restarts}`)}`
  const hasRun = state.kind !== 'waiting' || last !== undefined
  return {
    name,
    image,
    imageID: hasRun ? `${image.replace(/[:@][^/]*$/, '')}@sha256:${digest(image)}` : '',
    ...(hasRun && { containerID: id(restartCount) }),
    ready: isReady,
    started: isStarted,
    restartCount,
    lastState: last === undefined ? {} : { terminated: endedJson(last, id(state.kind === 'waiting' ? restartCount : restartCount - 1)) },
    state: stateJson(state, id(restartCount)),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
