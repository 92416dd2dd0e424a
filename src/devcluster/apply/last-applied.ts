/**
 * From client-side to server-side apply: what kubectl noted in its annotation it may take over without a conflict
 * (apimachinery `managedfields/internal/lastappliedmanager.go` and `lastappliedupdater.go`).
 */
import type { JsonObject } from '../../api/json.ts'
import { canonicalJson, isObject } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import type { AppliedType } from './server-side-apply.ts'
import { appliedFields, compare } from './compare.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet } from './field-set.ts'
import { ownedPart, trackedPart } from './owned-part.ts'
import type { Typing } from './typing.ts'

/** The one manager for whom the annotation counts. */
export const lastAppliedManager = 'kubectl'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
/** The API server's limit for all annotations of an object. */
const maxAnnotations = 256 * 1024

/** The fields of the annotation's configuration that are still as it says. */
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

/** The object with the annotation brought up to date, where there is one, so that client-side apply goes on from here. */
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
