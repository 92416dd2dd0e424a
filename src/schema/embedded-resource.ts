/**
 * `x-kubernetes-embedded-resource`: a complete Kubernetes object in a field of a custom resource
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta: Validate`).
 */
import type { FieldError } from '../api/field-error.ts'
import { invalid, required } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import { dns1035Label, pathSegmentName } from '../api/name-syntax.ts'
import { validateObjectMeta } from '../api/object-meta.ts'
import { childPath } from '../api/field-path.ts'

/** Fields that every Kubernetes object has, even if its schema does not specify them. */
export const objectFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** Validates an embedded resource. apiVersion and kind are required. metadata and metadata.name are optional. */
export function embeddedResourceErrors(object: JsonObject, path: string): FieldError[] {
  const metadata = getOwn(object, 'metadata')
  return [
    ...apiVersionErrors(getOwn(object, 'apiVersion'), childPath(path, 'apiVersion')),
    ...kindErrors(getOwn(object, 'kind'), childPath(path, 'kind')),
    ...(metadata === undefined ? [] : metadataErrors(metadata, childPath(path, 'metadata'))),
  ]
}

function apiVersionErrors(value: unknown, path: string): FieldError[] {
  if (value === undefined) return [required(path)]
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  return value.split('/').length > 2 ? [invalid(path, value, `unexpected GroupVersion string: ${value}`)] : []
}

function kindErrors(value: unknown, path: string): FieldError[] {
  if (value === undefined) return [required(path)]
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')]
  if (value === '') return [invalid(path, value, 'must not be empty')]
  const problems = dns1035Label(value.toLowerCase())
  return problems.length === 0 ? [] : [invalid(path, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

function metadataErrors(metadata: unknown, path: string): FieldError[] {
  if (!isObject(metadata)) return [invalid(path, metadata, 'must be an object')]
  const named = typeof metadata.name === 'string' && metadata.name !== '' ? metadata : { ...metadata, name: 'unnamed' }
  const namespaced = typeof metadata.namespace === 'string' && metadata.namespace !== ''
  return validateObjectMeta(named, { namespaced, name: pathSegmentName }, path)
}
