/**
 * Types that all groups share: metadata as an API server returns it, and the resource type. The types of a group are in a namespace beside
 * its values, and not in a module exported by `export * as`: when the compiler writes declarations of a program, it can name types of such
 * a module only in files that import it.
 */
import type { ResourceType } from '../group-version-kind.ts'
import { resourceType } from '../group-version-kind.ts'
import type { KubernetesObject, NamespacedMeta, ObjectMeta } from '../object.ts'

/** An object of a cluster-scoped type, from its model. */
export type ClusterObject<Model, ApiVersion extends string, Kind extends string> = Omit<Model, 'apiVersion' | 'kind' | 'metadata'> & {
  apiVersion: ApiVersion
  kind: Kind
  metadata: ObjectMeta
}

/** An object of a namespaced type, from its model. */
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
