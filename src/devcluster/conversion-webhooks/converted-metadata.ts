/**
 * Builds the metadata of a converted object. This is the original metadata with the labels and annotations of the webhook's response
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion: restoreObjectMeta).
 */
import type { FieldError } from '../../api/field-error.ts'
import { formatFieldError, invalid, tooLong } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { labelValue, qualifiedName } from '../../api/name-syntax.ts'
import { goTypeName } from '../types/go-text.ts'

/** Maximum total size in bytes of the annotations of an object. */
const maxAnnotationBytes = 256 * 1024

/** Returns the metadata of the converted object. If the webhook's response is invalid, returns the error in `problem`. */
export function convertedMetadata(
  original: JsonObject,
  converted: JsonObject,
): { readonly metadata: JsonObject } | { readonly problem: string } {
  const given = converted.metadata
  if (given === undefined) return { problem: 'missing metadata in converted object' }
  if (!isObject(given)) return { problem: `invalid metadata of type ${goTypeName(given)} in converted object` }
  const metadata: JsonObject = isObject(original.metadata) ? { ...original.metadata } : {}
  for (const field of ['labels', 'annotations'] as const) {
    const value = given[field]
    if (value === undefined || value === null) {
      delete metadata[field]
      continue
    }
    const problem = problemOf(field, value, metadata[field])
    if (problem !== undefined) return { problem }
    metadata[field] = value
  }
  return { metadata }
}

function problemOf(field: 'labels' | 'annotations', value: JsonValue, before: JsonValue | undefined): string | undefined {
  if (!isObject(value)) return `invalid metadata.${field} of type ${goTypeName(value)} in converted object`
  const entries = Object.entries(value) as [string, JsonValue][]
  const nonString = entries.find(([, text]) => typeof text !== 'string')
  if (nonString !== undefined)
    return `metadata.${field}[${nonString[0]}] must be a string, but is ${goTypeName(nonString[1])} in converted object`
  const old = isObject(before) ? before : {}
  // Labels or annotations that the webhook did not change are not validated again.
  if (entries.length === Object.keys(old).length && entries.every(([key, text]) => old[key] === text)) return undefined
  const errors = (field === 'labels' ? labelErrors : annotationErrors)(entries as [string, string][])
  if (errors.length === 0) return undefined
  const texts = [...new Set(errors.map(formatFieldError))]
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
}

function labelErrors(labels: readonly [string, string][]): FieldError[] {
  const path = 'metadata.labels'
  return labels.flatMap(([key, value]) => [
    ...qualifiedName(key).map((detail) => invalid(path, key, detail)),
    ...labelValue(value).map((detail) => invalid(path, value, detail)),
  ])
}

function annotationErrors(annotations: readonly [string, string][]): FieldError[] {
  // The correct path is `metadata.annotations`, but the messages of kube-apiserver contain `metadata.annotation`.
  const path = 'metadata.annotation'
  const bytes = annotations.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return [
    ...annotations.flatMap(([key]) => qualifiedName(key.toLowerCase()).map((detail) => invalid(path, key, detail))),
    ...(bytes > maxAnnotationBytes ? [tooLong(path, maxAnnotationBytes)] : []),
  ]
}
