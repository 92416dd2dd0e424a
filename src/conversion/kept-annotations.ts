/**
 * The annotations `conversion.GROUP/VERSION`. When an object is converted from VERSION to another version, the annotation stores the fields
 * that the other version cannot express. A conversion back to VERSION restores these fields.
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import { maxAnnotationBytes } from '../api/object-meta.ts'

/**
 * Maximum size in bytes of the value of one annotation `conversion.GROUP/VERSION`. The API server limits the total size of all annotations
 * of an object to 256 KiB, and other annotations, such as kubectl's last-applied configuration, also need space.
 */
export const maxKeptBytes = 64 * 1024

/** The metadata without the annotations `conversion.GROUP/VERSION`, and the values of these annotations by version. */
interface TakenAnnotations {
  readonly metadata: JsonObject | undefined
  readonly texts: Map<string, string>
}

export function keptAnnotation({ group }: Pick<Kind, 'group'>, version: string): string {
  return `conversion.${group}/${version}`
}

/**
 * Removes the annotations `conversion.GROUP/VERSION` for all versions of the kind from a copy of the metadata. Returns the copy and the
 * values of the removed annotations. Values that are not strings are omitted. If the metadata has no such annotation, the function returns
 * the original metadata object. If the metadata is not an object, the returned metadata is undefined.
 */
export function takeKeptAnnotations(kind: Kind, metadata: JsonValue | undefined): TakenAnnotations {
  const texts = new Map<string, string>()
  if (!isObject(metadata)) return { metadata: undefined, texts }
  const { annotations } = metadata
  if (!isObject(annotations)) return { metadata, texts }
  let rest: JsonObject | undefined
  for (const { name } of kind.versions) {
    const key = keptAnnotation(kind, name)
    if (!Object.hasOwn(annotations, key)) continue
    const text = annotations[key]
    if (typeof text === 'string') texts.set(name, text)
    rest ??= { ...annotations }
    delete rest[key]
  }
  if (rest === undefined) return { metadata, texts }
  const { annotations: _, ...others } = metadata
  return { metadata: Object.keys(rest).length === 0 ? others : { ...others, annotations: rest }, texts }
}

/**
 * Returns the metadata with an annotation `conversion.GROUP/VERSION` for each entry of `texts`. If an annotation would exceed a size limit,
 * it is not added, and its version is added to `unkept`.
 */
export function putKeptAnnotations(
  kind: Kind,
  metadata: JsonObject | undefined,
  texts: ReadonlyMap<string, string>,
): { metadata: JsonObject | undefined; unkept: readonly string[] } {
  if (texts.size === 0) return { metadata, unkept: [] }
  const annotations = isObject(metadata?.annotations) ? { ...metadata.annotations } : {}
  let room = maxAnnotationBytes - bytesOf(annotations)
  const unkept: string[] = []
  for (const [version, text] of texts) {
    const key = keptAnnotation(kind, version)
    const bytes = Buffer.byteLength(text)
    const needed = bytes + Buffer.byteLength(key)
    if (bytes > maxKeptBytes || needed > room) {
      unkept.push(version)
      continue
    }
    room -= needed
    annotations[key] = text
  }
  return { metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations }, unkept }
}

function bytesOf(annotations: JsonObject): number {
  let bytes = 0
  for (const [key, value] of Object.entries(annotations))
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0)
  return bytes
}
