/**
 * Builds the complete object from a converter's result. The metadata of the result is validated, and the schema of the target version is
 * applied.
 */
import { ProreusError } from '../api/errors.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject, jsonEqual, stringifyJson } from '../api/json.ts'
import type { CompiledSchema } from '../schema/compile.ts'

/** The fields of the metadata that a converter may change. The API server rejects or reverts changes of other fields. */
const writable: ReadonlySet<string> = new Set(['labels', 'annotations'])

/**
 * Returns the converted object. Its fields have these values:
 *
 * - `kind` and `metadata` are those of the source. Labels and annotations of the result replace those of the source. Empty labels or
 *   annotations are omitted.
 * - `spec` is that of the result.
 * - `status` is that of the result. If the result has no key `status`, the status of the source is copied.
 *
 * Like the API server, the function prunes unknown fields and applies the defaults of the schema.
 *
 * @param dropped receives the paths of the pruned fields, except those in a copied status.
 * @throws {ProreusError} `PRO_INPUT` when the result or its spec is not an object, or when the result changes anything other than spec,
 *   status, labels and annotations.
 */
export function completeResult(
  source: JsonObject,
  result: unknown,
  apiVersion: string,
  schema: CompiledSchema,
  dropped?: (paths: readonly string[]) => void,
): JsonObject {
  if (!isObject(result)) throw wrong(`returned ${describe(result)} instead of an object with spec and status`)
  for (const key of Object.keys(result)) {
    const value = result[key]
    if (key === 'spec' || key === 'status' || value === undefined) continue
    if (key === 'apiVersion' && (value === apiVersion || value === source.apiVersion)) continue
    if (key === 'kind' && value === source.kind) continue
    if (key !== 'metadata') throw wrong(`wrote ${key}, and may write spec and status, and of the metadata labels and annotations`)
  }
  if (result.spec !== undefined && !isObject(result.spec)) throw wrong(`returned ${describe(result.spec)} as spec`)
  const metadata = mergedMetadata(source.metadata, result.metadata)
  const goesAlong = !('status' in result)
  const status = goesAlong ? source.status : result.status
  const object: JsonObject = {
    apiVersion,
    kind: source.kind!,
    ...(metadata === undefined ? {} : { metadata }),
    ...(result.spec === undefined ? {} : { spec: result.spec }),
    ...(status === undefined ? {} : { status }),
  }
  return schema.default(
    schema.convert(object, (paths) =>
      dropped?.(goesAlong ? paths.filter((path) => path !== 'status' && !path.startsWith('status.')) : paths),
    ),
  )
}

function mergedMetadata(source: JsonValue | undefined, given: JsonValue | undefined): JsonValue | undefined {
  if (given === undefined) return source
  if (!isObject(given)) throw wrong(`returned ${describe(given)} as metadata`)
  const before = isObject(source) ? source : {}
  let copy: JsonObject | undefined
  for (const key of Object.keys(given)) {
    const value = given[key]
    if (value === undefined || jsonEqual(value, before[key])) continue
    if (!writable.has(key)) {
      const change = `from ${stringifyJson(before[key]) ?? 'nothing'} to ${stringifyJson(value)}`
      throw wrong(`changed metadata.${key} ${change}: only labels and annotations may change`)
    }
    if (!isObject(value) || Object.values(value).some((text) => typeof text !== 'string'))
      throw wrong(`returned metadata.${key} with values that are not strings`)
    copy ??= { ...before }
    // The API server does not store empty labels or annotations. Therefore, an empty map is removed.
    if (Object.keys(value).length === 0) delete copy[key]
    else copy[key] = value
  }
  return copy ?? source
}

function wrong(text: string): ProreusError {
  return new ProreusError('PRO_INPUT', `the converter ${text}`)
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  return Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
}
