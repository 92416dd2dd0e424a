/** Builds and checks the Pods of a StatefulSet (k8s.io/kubernetes/pkg/controller/statefulset: stateful_set_utils). */
import type { Pod, PodSpec } from '../../../../api/builtin.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import type { PodTemplate } from '../pod-control.ts'
import { podFromTemplate } from '../pod-control.ts'
import { isAvailable } from '../pod-state.ts'
import { podRevisionLabel } from '../revisions/revision.ts'
import { claimKeys } from './claims.ts'
import type { StatefulSet } from './ordinals.ts'
import { firstOrdinal, isMember, ordinalOf, podNameOf } from './ordinals.ts'

type Volumes = NonNullable<PodSpec['volumes']>

const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'

/** Returns the labels that identify the Pod with this ordinal: its name and the ordinal. */
export function identityLabels(set: StatefulSet, ordinal: number): Readonly<Record<string, string>> {
  return { [podNameLabel]: podNameOf(set, ordinal), [podIndexLabel]: String(ordinal) }
}

/**
 * Returns true when the name of a Pod consists of the name of the StatefulSet and an ordinal, and the label
 * `statefulset.kubernetes.io/pod-name` contains the name of the Pod.
 */
export function hasIdentity(set: StatefulSet, pod: ReadonlyPod): boolean {
  const { name, labels } = pod.metadata
  return isMember(set, pod) && name === podNameOf(set, ordinalOf(pod) ?? -1) && labels?.[podNameLabel] === name
}

/**
 * Returns true when the Pod has a volume for each PersistentVolumeClaim that `volumeClaimTemplates` of the StatefulSet define for the Pod.
 */
export function hasStorage(set: StatefulSet, pod: ReadonlyPod): boolean {
  const volumes = new Map((pod.spec?.volumes ?? []).map((volume) => [volume.name, volume]))
  return claimKeys(set, ordinalOf(pod) ?? -1).every(({ volume, name }) => volumes.get(volume)?.persistentVolumeClaim?.claimName === name)
}

/**
 * Returns the volumes of a Pod, including a volume for each claim. If another volume has the same name as the volume of a claim, the volume
 * of the claim replaces it.
 */
export function withClaims(set: StatefulSet, ordinal: number, { volumes = [] }: DeepReadonly<Partial<PodSpec>>): Volumes {
  const keys = claimKeys(set, ordinal)
  const others = (volumes as Volumes).filter(({ name }) => !keys.some(({ volume }) => volume === name))
  return [...keys.map(({ volume, name }) => ({ name: volume, persistentVolumeClaim: { claimName: name } })), ...others]
}

/** Returns the Pod with this ordinal. `template` is the Pod template of the revision with the name `revision`. */
export function podOf(
  set: StatefulSet,
  ordinal: number,
  template: DeepReadonly<PodTemplate> | undefined,
  revision: string,
): ObjectInput<Pod> {
  const { metadata, spec } = podFromTemplate(template, set)
  const name = podNameOf(set, ordinal)
  const volumes = withClaims(set, ordinal, spec ?? {})
  return {
    metadata: { ...metadata, name, labels: { ...metadata.labels, ...identityLabels(set, ordinal), [podRevisionLabel]: revision } },
    spec: { ...spec, ...(volumes.length > 0 && { volumes }), hostname: name, subdomain: set.spec?.serviceName ?? '' },
  } as ObjectInput<Pod>
}

/**
 * Returns true when a missing Pod must be created with the current revision. Returns false when the Pod must be created with the update
 * revision (…/statefulset: newVersionedStatefulSetPod).
 *
 * - If the field `rollingUpdate` is set, the first `partition` Pods get the current revision.
 * - If the field `rollingUpdate` is absent and the type is `RollingUpdate`, the first `status.currentReplicas` Pods get the current
 *   revision, because a rolling update begins with the highest ordinal.
 * - All other Pods get the update revision.
 */
export function isBeforeUpdate(set: StatefulSet, ordinal: number): boolean {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  const index = ordinal - firstOrdinal(set)
  if (rollingUpdate !== undefined) return index < (rollingUpdate.partition ?? 0)
  return type === 'RollingUpdate' && index < (set.status?.currentReplicas ?? 0)
}

export function isDeleted({ metadata }: ReadonlyPod): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Returns true when the Pod is not available or is being deleted (…/statefulset: isUnavailable). */
export function isUnavailable(pod: ReadonlyPod, { spec }: StatefulSet, now: number): boolean {
  return isDeleted(pod) || !isAvailable(pod, spec?.minReadySeconds ?? 0, now)
}
