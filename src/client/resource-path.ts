/** Builds request paths of the Kubernetes API. Namespaces and names come from callers, so they are validated and escaped. */
import { ProreusError } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Returns `/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]`; for the core group, it begins with
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

/** Returns the path of one object. */
export function objectPath(
  type: ResourceType,
  key: { readonly namespace?: string | undefined; readonly name: string },
  subresource?: string,
): string {
  requireNamespace(type, key.namespace)
  return resourcePath(type, { ...key, subresource })
}

/** Returns the path to which a new object is posted. */
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
 * rejected, because the path of an object would otherwise become the path of the whole collection.
 */
function segment(value: string, what: string): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw new ProreusError(
      'PRO_INPUT',
      `${JSON.stringify(value)} cannot be ${what}: it must not be empty, ".", ".." or contain "/" or "%".`,
    )
  }
  return encodeURIComponent(value)
}
