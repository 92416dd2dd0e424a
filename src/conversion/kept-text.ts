/**
 * Converts fields of an object to JSON text for an annotation, and restores the fields from the text. The fields are those that another
 * version of the object cannot express. The text is not trusted: every user who may write the object may also write the annotation.
 */
import type { FieldError } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import { parseJson } from '../api/json-reader.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import type { CompiledSchema } from '../schema/compile.ts'
import { maxKeptBytes } from './kept-annotations.ts'
import { findKeptFields, restoreKeptFields } from './kept-fields.ts'
import type { KeptFields } from './kept-fields.ts'

/**
 * Returns the fields of `spec` and `status` that differ between `original` and `back`, as JSON text. Returns undefined when no field
 * differs. For each field, the JSON contains the value in `original` and a digest of the value in `back` (`KeptFields`).
 *
 * @param back `original` after a conversion to another version and back.
 */
export function writeKeptFields(back: JsonObject, original: JsonObject, schema: StructuralSchema): string | undefined {
  const fields: { [key: string]: KeptFields } = {}
  for (const part of ['spec', 'status'] as const) {
    const kept = findKeptFields(back[part], original[part], schema.properties?.[part])
    if (kept !== undefined) fields[part] = kept
  }
  return fields.spec === undefined && fields.status === undefined ? undefined : stringifyJson({ fields })
}

/**
 * Parses the value of an annotation. Returns undefined if the value is too long, or does not have the structure that `writeKeptFields`
 * produces.
 */
export function readKeptFields(text: string): JsonObject | undefined {
  if (text.length > maxKeptBytes) return undefined
  try {
    const kept = parseJson(text)
    if (!isObject(kept) || !isObject(kept.fields)) return undefined
    return Object.keys(kept.fields).every((key) => key === 'spec' || key === 'status') ? kept : undefined
  } catch {
    return undefined
  }
}

/**
 * Restores the fields of `kept` that the schema accepts. A field that a client has changed since it was stored is not restored. Returns the
 * object with the restored fields, and the paths of the fields that the schema rejects.
 *
 * The API server validates neither the values in an annotation nor the result of a conversion. Therefore, this function validates the
 * restored fields.
 */
export function restoreWhatFits(
  object: JsonObject,
  kept: JsonObject,
  target: CompiledSchema,
): { restored: JsonObject; refused: readonly string[] } {
  const before = new Set(target.validate(object).map(keyOf))
  const refusedIn = (candidate: JsonObject): string[] =>
    target
      .validate(candidate)
      .filter((error) => !before.has(keyOf(error)))
      .map(({ path }) => path)
  const restore = (refused: readonly string[]): JsonObject => {
    const restored = restoreKeptFields(object, kept, target.schema, refused)
    return restored === object ? object : target.default(target.convert(restored))
  }
  const all = restore([])
  if (all === object) return { restored: object, refused: [] }
  const refused = refusedIn(all)
  if (refused.length === 0) return { restored: all, refused }
  const accepted = restore(refused)
  return { restored: refusedIn(accepted).length === 0 ? accepted : object, refused }
}

function keyOf({ path, message }: FieldError): string {
  return `${path} ${message}`
}
