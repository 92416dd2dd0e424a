/** Pods, Jobs, StatefulSets and DaemonSets for tests of the workload controllers. */
import type { Pod } from '../../../src/api/builtin.ts'
import type { apps } from '../../../src/api/kubernetes/apps.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'

export interface PodTraits {
  readonly name: string
  readonly phase?: string
  /** The time at which the Pod became ready, in seconds. */
  readonly readySince?: number
  /** The creation time of the Pod, in seconds since 1970. Default: 0. */
  readonly created?: number
  readonly node?: string
  readonly index?: number
  readonly restarts?: number
  /** The number of restarts of a sidecar container. By default, the Pod has no sidecar container. */
  readonly sidecarRestarts?: number
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
    spec: {
      containers: [],
      nodeName: traits.node ?? 'node',
      ...(traits.sidecarRestarts !== undefined && { initContainers: [{ name: 'sidecar', image: 'a', restartPolicy: 'Always' }] }),
    },
    status: {
      phase,
      conditions: readySince === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: timeOf(readySince) }],
      containerStatuses: [{ name: 'main', image: 'a', imageID: '', ready: true, restartCount: traits.restarts ?? 0 }],
      ...(traits.sidecarRestarts !== undefined && {
        initContainerStatuses: [{ name: 'sidecar', image: 'a', imageID: '', ready: true, restartCount: traits.sidecarRestarts }],
      }),
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

/** Returns the StatefulSet `web`, whose update strategy is `RollingUpdate` with the partition 0. */
export function statefulSetWith(spec: object, status: object = {}): apps.StatefulSet {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'ns', uid: 'set', generation: 1 },
    spec: { podManagementPolicy: 'OrderedReady', updateStrategy, template: { spec: {} }, ...spec },
    status,
  } as unknown as apps.StatefulSet
}

/** Returns a Pod of the StatefulSet `web`. */
export function statefulPodWith(ordinal: number, traits: Partial<PodTraits> & { readonly revision?: string } = {}): Pod {
  const name = `web-${ordinal}`
  const { metadata, ...pod } = podWith({ name, ...traits })
  const labels = { 'statefulset.kubernetes.io/pod-name': name, 'controller-revision-hash': traits.revision ?? 'new' }
  return { ...pod, apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace: 'ns', labels } }
}

/** Returns the DaemonSet `agent`. */
export function daemonSetWith(spec: object, annotations: object = {}): apps.DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'ns', uid: 'set', generation: 1, annotations },
    spec: { template: { spec: {} }, ...spec },
    status: {},
  } as unknown as apps.DaemonSet
}

/** Returns a Pod of a DaemonSet. The label `controller-revision-hash` of the Pod is `traits.revision`. */
export function daemonPodWith(traits: PodTraits & { readonly revision: string }): Pod {
  const { metadata, ...pod } = podWith(traits)
  return { ...pod, metadata: { ...metadata, namespace: 'ns', labels: { 'controller-revision-hash': traits.revision } } }
}
