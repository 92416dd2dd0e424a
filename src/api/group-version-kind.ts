/** Names of types: group, version, kind, and plural. */
import type { KubernetesObject, ObjectInput } from './object.ts'

export interface GroupVersionKind {
  /** The API group; empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
}

/**
 * A type as the API serves it. `T` is the static type of its objects when read, `Input` when written: a field with a default is always
 * present when read, and optional when written. Both exist only for the compiler.
 */
export interface ResourceType<T extends KubernetesObject = KubernetesObject, Input = ObjectInput<T>> extends GroupVersionKind {
  /** The lower-case plural, which is the path segment and the name in RBAC rules. */
  readonly plural: string
  readonly namespaced: boolean
  readonly '~object'?: T
  readonly '~input'?: Input
}

/** The static type of the objects of a resource type or a kind, as read. */
export type ObjectOf<R> = R extends { readonly '~object'?: infer T extends KubernetesObject } ? T : never
/** The static type of the objects of a resource type or a kind, as written. */
export type InputOf<R> = R extends { readonly '~input'?: infer Input } ? Input : never

/** Declares a type that Proreus does not define, e.g. one of another operator. */
export function resourceType<T extends KubernetesObject = KubernetesObject>(
  type: GroupVersionKind & { readonly plural: string; readonly namespaced?: boolean },
): ResourceType<T> {
  return Object.freeze({ namespaced: true, ...type })
}

/** Returns `v1` for the core group, otherwise `group/version`. */
export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`
}

export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Returns `plural.group`, or only the plural in the core group. kubectl, RBAC and the names of CRDs use this format. */
export function groupResourceOf(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`
}

/** Returns `Kind.group`, or only the kind in the core group. Error messages use this format. */
export function groupKindOf(type: { readonly group: string; readonly kind: string }): string {
  return type.group === '' ? type.kind : `${type.kind}.${type.group}`
}

/** Returns true when two declarations have the same type and version. */
export function isSameType(a: ResourceType, b: ResourceType): boolean {
  return a.plural === b.plural && a.group === b.group && a.version === b.version
}
