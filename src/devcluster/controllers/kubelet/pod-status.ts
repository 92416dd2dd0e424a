/** Builds the status of a Pod from its containers (k8s.io/kubernetes/pkg/kubelet: Kubelet.generateAPIPodStatus). */
import { createHash } from 'node:crypto'
import { formatTime } from '../../../api/conditions.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { endedJson, stateJson } from './container-state.ts'
import { podConditions } from './pod-conditions.ts'
import { phaseOf } from './pod-phase.ts'
import { isSidecar } from './restart-policy.ts'
import type { Container } from './container.ts'
import type { PodWorker } from './pod-worker.ts'
import { succeeded } from './pod-worker.ts'

export interface PodPlace {
  readonly hostIP: string
  /** The address of the Pod. A Pod with `hostNetwork` has the address of its node. */
  readonly podIP: string
}

/** Returns the status of a Pod. */
export function podStatus(worker: PodWorker, pod: ReadonlyPod, { hostIP, podIP }: PodPlace): object {
  const phase = phaseOf(worker, pod)
  const { outcome, ephemeral } = worker
  return {
    phase,
    observedGeneration: pod.metadata.generation,
    ...(outcome?.reason !== undefined && { reason: outcome.reason, message: outcome.message }),
    conditions: podConditions(worker, pod, phase),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(worker.hadSandbox && { podIP, podIPs: [{ ip: podIP }] }),
    startTime: pod.status?.startTime ?? formatTime(worker.startedAt),
    initContainerStatuses: worker.init.map((one) => initStatus(pod, one, worker.scheme)),
    containerStatuses: sorted(worker.regular).map((one) => containerStatus(pod, one, worker.scheme)),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: sorted(ephemeral).map((one) => ephemeralStatus(pod, one, worker.scheme)) }),
  }
}

function sorted(containers: readonly Container[]): readonly Container[] {
  return [...containers].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1))
}

/** Returns the status of an init container or a sidecar. An init container that is not a sidecar is ready only after it has succeeded. */
function initStatus(pod: ReadonlyPod, container: Container, scheme: string): object {
  return { ...containerStatus(pod, container, scheme), ready: isSidecar(container.spec) ? container.isReady : succeeded(container.state) }
}

/**
 * Returns the status of an ephemeral container. In this status, `ready` is always false, and `started` is absent. The kubelet sets these
 * two fields only for other containers (k8s.io/kubernetes/pkg/kubelet/prober: UpdatePodStatus).
 */
function ephemeralStatus(pod: ReadonlyPod, container: Container, scheme: string): object {
  const { started: _started, ...status } = containerStatus(pod, container, scheme)
  return { ...status, ready: false }
}

function containerStatus(
  pod: ReadonlyPod,
  { spec, state, last, restartCount, isReady, isStarted }: Container,
  scheme: string,
): Record<string, unknown> {
  const { name, image = '' } = spec
  const id = (restarts: number): string => `${scheme}://${digest(`${pod.metadata.uid}/${name}/${restarts}`)}`
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
