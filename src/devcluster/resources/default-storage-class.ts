/** Finds the default storage class among all storage classes. */
import type { DeepReadonly } from '../../api/json.ts'
import type { KubernetesObject } from '../../api/object.ts'

export const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class'
const betaAnnotation = 'storageclass.beta.kubernetes.io/is-default-class'

/**
 * Returns the default class; undefined when no class is marked as default. If several classes are marked, returns the youngest of them
 * (k8s.io/kubernetes/pkg/volume/util: GetDefaultClass).
 */
export function defaultClassOf<T extends DeepReadonly<KubernetesObject>>(classes: readonly T[]): T | undefined {
  const defaults = classes.filter(
    ({ metadata: { annotations } }) => annotations?.[defaultClassAnnotation] === 'true' || annotations?.[betaAnnotation] === 'true',
  )
  return defaults.sort((a, b) => {
    const [one, other] = [a.metadata, b.metadata]
    if (one.creationTimestamp === other.creationTimestamp) return one.name < other.name ? -1 : 1
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1
  })[0]
}
