/**
 * Supports the migration from client-side to server-side apply: kubectl takes ownership of the fields in its `last-applied-configuration`
 * annotation without a conflict (k8s.io/apimachinery/pkg/util/managedfields/internal: lastappliedmanager.go, lastappliedupdater.go).
 */
import type { JsonObject } from '../../api/json.ts'
import { canonicalJson, isObject } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import type { AppliedType } from './applied-type.ts'
import { appliedFields, compare } from './compare.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet } from './field-set.ts'
import { ownedPart, trackedPart } from './owned-part.ts'
import type { Typing } from './typing.ts'

/** The only field manager for which server-side apply reads the `last-applied-configuration` annotation. */
export const lastAppliedManager = 'kubectl'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** Maximum size in bytes of the annotations of an object. */
const maxAnnotations = 256 * 1024

/** Returns the fields of the annotation's configuration that have the same value in the live object. */
export function lastAppliedFields(info: AppliedType, live: JsonObject, typing: Typing): FieldSet {
  const text = annotationsOf(live)[annotation]
  if (typeof text !== 'string') return emptySet
  let applied: unknown
  try {
    applied = parseJson(text)
  } catch {
    return emptySet
  }
  if (!isObject(applied)) return emptySet
  const config = ownedPart(info, applied, '')
  const { changed, removed } = compare(config, trackedPart(info, live, ''), typing)
  const fields = appliedFields(config, typing)
  return difference(difference(fields, changed), removed)
}

/**
 * Returns `object` with a new value of the `last-applied-configuration` annotation, so that users can return to client-side apply. The new
 * value is the JSON text of `config`. If the text is longer than `maxAnnotations` bytes, the new value is an empty string.
 *
 * If the live object does not have the annotation, returns `object` unchanged.
 */
export function withLastApplied(object: JsonObject, live: JsonObject, config: JsonObject): JsonObject {
  if (annotationsOf(live)[annotation] === undefined) return object
  const { [annotation]: _annotation, ...annotations } = annotationsOf(config)
  const { annotations: _given, managedFields: _managedFields, ...rest } = isObject(config.metadata) ? config.metadata : {}
  const metadata = { ...rest, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) }
  const text = `${canonicalJson({ ...config, metadata })}\n`
  const noted = Buffer.byteLength(text) > maxAnnotations ? '' : text
  return {
    ...object,
    metadata: { ...(object.metadata as JsonObject), annotations: { ...annotationsOf(object), [annotation]: noted } },
  }
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : {}
}
