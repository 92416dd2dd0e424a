/**
 * Helpers for the built-in types of all groups. Each group has a constant with its resource types (`core.pod`), and a TypeScript namespace
 * of the same name with the static types of their objects (`core.Pod`).
 *
 * With a namespace, the compiler can write the names of the static types into every declaration file of a user's project. With a module
 * (`export * as core`), the compiler could do this only for files that import the module.
 */
import type { ResourceType } from '../group-version-kind.ts'
import { resourceType } from '../group-version-kind.ts'
import type { KubernetesObject, NamespacedMeta, ObjectMeta } from '../object.ts'

/** The static type of the objects of a cluster-scoped resource. `Model` declares all fields except apiVersion, kind and metadata. */
export type ClusterObject<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion: ApiVersion
  kind: Kind
  metadata: ObjectMeta
}

/** The static type of an object of a namespaced type. `Model` declares the fields other than apiVersion, kind and metadata. */
export type NamespacedObject<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion: ApiVersion
  kind: Kind
  metadata: NamespacedMeta
}

export function namespacedType<T extends KubernetesObject>(
  group: string,
  version: string,
  kind: T['kind'],
  plural: string,
): ResourceType<T> {
  return resourceType<T>({ group, version, kind, plural })
}

export function clusterType<T extends KubernetesObject>(group: string, version: string, kind: T['kind'], plural: string): ResourceType<T> {
  return resourceType<T>({ group, version, kind, plural, namespaced: false })
}
