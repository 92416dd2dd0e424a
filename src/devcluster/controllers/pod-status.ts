/** Builds the status of a Pod whose containers are all running, or have all ended with success. */
import { createHash } from 'node:crypto'
import { formatTime } from '../../api/conditions.ts'
import type { ReadonlyPod } from './place-pod.ts'

export interface PodPlace {
  readonly hostIP: string
  readonly podIP: string
  readonly now: number
}

interface RunningContainer {
  readonly name: string
  readonly image: string
  readonly restartCount: number
  readonly startedAt: string
}

/** Returns the status of a running Pod; undefined when the status of the Pod is already up to date. */
export function runningStatus(pod: ReadonlyPod, place: PodPlace): object | undefined {
  const { spec, status } = pod
  const time = formatTime(place.now)
  const known = new Map((status?.containerStatuses ?? []).map((container) => [container.name, container]))
  const containers = (spec?.containers ?? []).map(({ name, image = '' }): RunningContainer => {
    const before = known.get(name)
    const startedAt = before?.state?.running?.startedAt
    if (before === undefined || startedAt === undefined) return { name, image, restartCount: before?.restartCount ?? 0, startedAt: time }
    // A container whose image has changed is restarted.
    return before.image === image
      ? { name, image, restartCount: before.restartCount, startedAt }
      : { name, image, restartCount: before.restartCount + 1, startedAt: time }
  })
  const isCurrent =
    status?.phase === 'Running' &&
    containers.every(({ name, image }) => known.get(name)?.image === image) &&
    known.size === containers.length
  if (isCurrent) return undefined
  const hostNetwork = spec?.hostNetwork === true
  const podIP = hostNetwork ? place.hostIP : place.podIP
  return {
    phase: 'Running',
    observedGeneration: pod.metadata.generation,
    conditions: conditionsOf(pod, time),
    hostIP: place.hostIP,
    hostIPs: [{ ip: place.hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: status?.startTime ?? time,
    initContainerStatuses: (spec?.initContainers ?? []).map((container) => initStatus(pod, container, time)),
    containerStatuses: containers.map((container) => containerStatus(pod, container)),
  }
}

/** Returns the changes in the status of a running Pod whose containers end with success. */
export function completedStatus({ status }: ReadonlyPod, now: number): object {
  const time = formatTime(now)
  const reason = 'PodCompleted'
  const conditions = (status?.conditions ?? []).map((condition) => {
    if (condition.type === 'Initialized') return { ...condition, reason }
    const isReadiness = condition.type === 'Ready' || condition.type === 'ContainersReady'
    return isReadiness ? { ...condition, status: 'False', lastTransitionTime: time, reason } : condition
  })
  const containerStatuses = (status?.containerStatuses ?? []).map((container) => {
    const { containerID: id } = container
    const startedAt = container.state?.running?.startedAt ?? time
    const terminated = { containerID: id, exitCode: 0, reason: 'Completed', startedAt, finishedAt: time }
    return { ...container, ready: false, started: false, state: { terminated } }
  })
  return { phase: 'Succeeded', conditions, containerStatuses }
}

function conditionsOf({ status }: ReadonlyPod, time: string): object[] {
  return ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => {
    const before = status?.conditions?.find((condition) => condition.type === type)
    return { type, status: 'True', lastProbeTime: null, lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : time }
  })
}

function containerStatus(pod: ReadonlyPod, { name, image, restartCount, startedAt }: RunningContainer): object {
  return {
    name,
    image,
    imageID: imageID(image),
    containerID: containerID(pod, name, restartCount),
    ready: true,
    started: true,
    restartCount,
    lastState: {},
    state: { running: { startedAt } },
  }
}

function initStatus(pod: ReadonlyPod, { name, image = '' }: { readonly name: string; readonly image?: string }, time: string): object {
  const id = containerID(pod, name, 0)
  return {
    name,
    image,
    imageID: imageID(image),
    containerID: id,
    ready: true,
    started: false,
    restartCount: 0,
    lastState: {},
    state: { terminated: { containerID: id, exitCode: 0, reason: 'Completed', startedAt: time, finishedAt: time } },
  }
}

function imageID(image: string): string {
  return `${image.replace(/[:@][^/]*$/, '')}@sha256:${digest(image)}`
}

function containerID({ metadata }: ReadonlyPod, name: string, restarts: number): string {
  return `simulated://${digest(`${metadata.uid}/${name}/${restarts}`)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
