/** Compares the fields of two versions. If the fields are the same, a conversion changes only the apiVersion of an object. */
import { jsonEqual } from '../api/json.ts'
import type { JsonValue } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath } from '../api/field-path.ts'

/**
 * The schema keywords that determine the type of a value. Other keywords, such as bounds, patterns, rules and defaults, do not change the
 * type.
 */
const decisive = [
  'type',
  'nullable',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
] as const

/** Returns the paths of the values whose types differ between the schemas. The paths are in the order of the fields. */
export function differences(a: StructuralSchema, b: StructuralSchema): string[] {
  const found: string[] = []
  compare(a, b, '', found)
  return found
}

function compare(a: StructuralSchema | undefined, b: StructuralSchema | undefined, path: string, found: string[]): void {
  if (a === undefined || b === undefined) {
    if (a !== b) found.push(path)
    return
  }
  if (decisive.some((keyword) => (a[keyword] || undefined) !== (b[keyword] || undefined)) || !enumsFit(a.enum, b.enum)) {
    found.push(path)
    return
  }
  for (const key of new Set([...Object.keys(a.properties ?? {}), ...Object.keys(b.properties ?? {})])) {
    compare(propertyOf(a, key), propertyOf(b, key), childPath(path, key), found)
  }
  compare(a.items, b.items, `${path}[]`, found)
  const [others, otherOthers] = [a.additionalProperties, b.additionalProperties]
  if (typeof others === 'object' && typeof otherOthers === 'object') compare(others, otherOthers, `${path}.*`, found)
  else if ((others || undefined) !== (otherOthers || undefined)) found.push(`${path}.*`)
}

function propertyOf({ properties = {} }: StructuralSchema, key: string): StructuralSchema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined
}

/**
 * Returns true if one enum contains all values of the other enum, or if a schema has no enum. If each enum has a value that the other enum
 * lacks, a value has presumably been renamed, and the version needs a converter.
 */
function enumsFit(a: readonly JsonValue[] | undefined, b: readonly JsonValue[] | undefined): boolean {
  if (a === undefined || b === undefined) return true
  const [few, many] = a.length < b.length ? [a, b] : [b, a]
  return few.every((value) => many.some((other) => jsonEqual(value, other)))
}
