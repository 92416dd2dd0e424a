/** Builds request paths of the Kubernetes API. Namespaces and names come from callers, so they are validated and escaped. */
import { ProreusError } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { describeFound } from '../api/option-checks.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Returns `/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]`. For the core group, the path begins with
 * `/api/<version>`.
 */
export function resourcePath(
  type: ResourceType,
  target: { readonly namespace?: string | undefined; readonly name?: string | undefined; readonly subresource?: string | undefined } = {},
): string {
  const parts =
    type.group === ''
      ? ['/api', encodeURIComponent(type.version)]
      : ['/apis', encodeURIComponent(type.group), encodeURIComponent(type.version)]
  // In a list, an empty namespace means all namespaces. For a cluster-scoped type, the namespace is ignored.
  if (type.namespaced && target.namespace !== undefined && target.namespace !== '') {
    parts.push('namespaces', segment(target.namespace, `the namespace of a ${type.kind}`))
  }
  parts.push(encodeURIComponent(type.plural))
  if (target.name !== undefined) parts.push(segment(target.name, `the name of a ${type.kind}`))
  if (target.subresource !== undefined) parts.push(...target.subresource.split('/').map((part) => segment(part, 'a subresource')))
  return parts.join('/')
}

/** A key that has not been validated. At run time, the name may be undefined, even if its type in the caller's code is `string`. */
interface UncheckedKey {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** @throws {ProreusError} `PRO_INPUT` when `key` does not identify one object of the type, e.g. because the name is missing. */
export function requireKey(type: ResourceType, key: UncheckedKey): void {
  objectPath(type, key)
}

/**
 * Returns the path of one object.
 *
 * @throws {ProreusError} `PRO_INPUT` when the name or namespace is missing or invalid.
 */
export function objectPath(type: ResourceType, key: UncheckedKey, subresource?: string): string {
  if (typeof key !== 'object' || key === null)
    throw new ProreusError('PRO_INPUT', `The key of a ${type.kind} must be an object with its name, found ${describeFound(key)}.`)
  requireNamespace(type, key.namespace)
  // Without a name, the result would be the path of the whole collection. A DELETE of this path would delete all objects of the collection.
  if (key.name === undefined || key.name === null)
    throw new ProreusError(
      'PRO_INPUT',
      `The name of a ${type.kind} is ${key.name}: set metadata.name, or the name of the key. Only create generates a name, from metadata.generateName.`,
    )
  return resourcePath(type, { namespace: key.namespace, name: key.name, subresource })
}

/**
 * Returns the path to which a new object is posted. The name may be missing in two cases: the API server generates a name, or the objects
 * of the type have no name, e.g. a SubjectAccessReview.
 *
 * @throws {ProreusError} `PRO_INPUT` when the name is not a string, or the namespace is missing or invalid.
 */
export function newObjectPath(type: ResourceType, { namespace, name }: UncheckedKey): string {
  if (name !== undefined && name !== null && typeof name !== 'string')
    throw new ProreusError('PRO_INPUT', `The name of a ${type.kind} must be a string, found ${describeFound(name)}.`)
  return collectionPath(type, namespace)
}

/** Returns the path of the objects of a type, in one namespace if the type is namespaced. */
export function collectionPath(type: ResourceType, namespace: string | undefined): string {
  requireNamespace(type, namespace)
  return resourcePath(type, { namespace })
}

/** Returns the query string `?a=b&c=d`; an empty string when there are no parameters. */
export function formatQuery(query: Query = {}): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.append(key, String(value))
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

function requireNamespace(type: ResourceType, namespace: string | undefined): void {
  if (type.namespaced && !namespace) {
    throw new ProreusError('PRO_INPUT', `${type.kind} is a namespaced type: set metadata.namespace, or the namespace of the key.`)
  }
}

/**
 * Validates and escapes one segment of a path (k8s.io/apimachinery/pkg/api/validation/path: IsValidPathSegmentName). An empty name is
 * rejected. With an empty name, the path of an object would be the path of the whole collection.
 */
function segment(value: string, what: string): string {
  if (typeof value !== 'string')
    throw new ProreusError('PRO_INPUT', `${capitalized(what)} must be a string, found ${describeFound(value)}.`)
  if (value === '' || value === '.' || value === '..' || /[/%]/.test(value) || !value.isWellFormed()) {
    throw new ProreusError(
      'PRO_INPUT',
      `${JSON.stringify(value)} cannot be ${what}: it must not be empty, ".", ".." or contain "/" or "%".`,
    )
  }
  return encodeURIComponent(value)
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
