/** The names that identify a type: group, version, kind and plural. */
import type { KubernetesObject, ObjectInput } from './object.ts'

export interface GroupVersionKind {
  /** The API group; an empty string for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * A resource type of the API server. `T` is the static type of the objects that a read returns. `Input` is the static type of the objects
 * that a write accepts. A field with a default is required in `T`, and optional in `Input`. Both static types exist only at compile time.
 */
export interface ResourceType<T extends KubernetesObject = KubernetesObject, Input = ObjectInput<T>> extends GroupVersionKind {
  /** The plural name in lower case, which is a segment of request paths and the resource in RBAC rules. */
  readonly plural: string
  readonly namespaced: boolean
  readonly '~object'?: T
  readonly '~input'?: Input
}

/** The static type of the objects that a read returns, for a resource type or a kind. */
export type ObjectOf<R> = R extends { readonly '~object'?: infer T extends KubernetesObject } ? T : never
/** The static type of the objects that a write accepts, for a resource type or a kind. Fields with a default are optional. */
export type InputOf<R> = R extends { readonly '~input'?: infer Input } ? Input : never

/**
 * Declares a resource type that Proreus does not define, e.g. a custom resource of another operator. By default, the type is namespaced.
 */
export function resourceType<T extends KubernetesObject = KubernetesObject>(
  type: GroupVersionKind & { readonly plural: string; readonly namespaced?: boolean },
): ResourceType<T> {
  return Object.freeze({ namespaced: true, ...type })
}

/**
 * Returns the apiVersion of a type. For the core group, the apiVersion is the version. For all other groups, the apiVersion is
 * `group/version`.
 */
export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Returns `plural.group`, or only the plural for the core group. kubectl, RBAC and the names of CRDs use this format. */
export function groupResourceOf(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`
}

/** Returns `Kind.group`, or only the kind for the core group. Error messages use this format. */
export function groupKindOf(type: { readonly group: string; readonly kind: string }): string {
  return type.group === '' ? type.kind : `${type.kind}.${type.group}`
}

/** Returns true when `a` and `b` are the same resource type in the same version. */
export function isSameType(a: ResourceType, b: ResourceType): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version
}
