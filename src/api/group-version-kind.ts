/** Names of types: group, version, kind, and the plural under which the API serves them. */
import type { KubernetesObject } from './object.ts'

export interface GroupVersionKind {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A type as the API serves it. `T` is the object's static type; it exists for the compiler alone. */
export interface ResourceType<T extends KubernetesObject = KubernetesObject> extends GroupVersionKind {
  /** Lower-case plural: the path segment, and the name in RBAC rules. */
  readonly plural: string
  readonly namespaced: boolean
  readonly '~object'?: T
}

/** The static object type that belongs to a resource type or a kind. */
export type ObjectOf<R> = R extends ResourceType<infer T> ? T : never

/** Declares a type that Proreus does not define, e.g. one of Kubernetes' own or of another operator. */
export function resourceType<T extends KubernetesObject = KubernetesObject>(
  type: GroupVersionKind & { readonly plural: string; readonly namespaced?: boolean },
): ResourceType<T> {
  return Object.freeze({ namespaced: true, ...type })
}

/** `v1` for the core group, otherwise `group/version`. */
export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** `plural.group`, or the plural alone in the core group: how kubectl, RBAC and CRD names write a type. */
export function groupResourceOf(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`
}

/** `Kind.group`, or the kind alone in the core group: how error messages write a type. */
export function groupKindOf(type: { readonly group: string; readonly kind: string }): string {
  return type.group === '' ? type.kind : `${type.kind}.${type.group}`
}

/** Whether two declarations are of one type in one version. */
export function isSameType(a: ResourceType, b: ResourceType): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version
}
