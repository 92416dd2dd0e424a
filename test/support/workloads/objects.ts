/** Pods and Jobs for tests of the workload controllers. */
import type { Pod } from '../../../src/api/builtin.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'

export interface PodTraits {
  readonly name: string
  readonly phase?: string
  /** The second since which the Pod is ready. */
  readonly readySince?: number
  /** The second of the creation. Default 0. */
  readonly created?: number
  readonly node?: string
  readonly index?: number
  readonly restarts?: number
  readonly isDeleted?: boolean
  /** False when the Pod no longer has the finalizer of its Job. */
  readonly isTracked?: boolean
  readonly cost?: string
}

const timeOf = (second: number): string => new Date(second * 1000).toISOString()

/** Returns a Pod whose uid is its name. */
export function podWith({ name, phase = 'Running', isTracked = true, ...traits }: PodTraits): Pod {
  const { index, cost, readySince } = traits
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: timeOf(traits.created ?? 0),
      annotations: {
        ...(index !== undefined && { 'batch.kubernetes.io/job-completion-index': String(index) }),
        ...(cost !== undefined && { 'controller.kubernetes.io/pod-deletion-cost': cost }),
      },
      ...(isTracked && { finalizers: ['batch.kubernetes.io/job-tracking'] }),
      ...(traits.isDeleted === true && { deletionTimestamp: timeOf(1) }),
    },
    spec: { containers: [], nodeName: traits.node ?? 'node' },
    status: {
      phase,
      conditions: readySince === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: timeOf(readySince) }],
      containerStatuses: [{ name: 'main', image: 'a', imageID: '', ready: true, restartCount: traits.restarts ?? 0 }],
    },
  } as unknown as Pod
}

export function jobWith(spec: object, status: object = {}): batch.Job {
  return {
    metadata: { name: 'work', namespace: 'ns', uid: 'job' },
    spec: { template: { spec: {} }, ...spec },
    status,
  } as unknown as batch.Job
}
