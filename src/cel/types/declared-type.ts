/**
 * Builds the CEL types of a schema, with the size limits that the cost estimate needs
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model: SchemaDeclType`).
 */
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { withObjectFields } from './data-type.ts'
import { escapeIdentifier } from './escape.ts'
import type { Type } from './types.ts'
import { boolType, bytesType, doubleType, durationType, dynType, intType, listType, mapType, stringType, timestampType } from './types.ts'
import { maxRequestBytes } from '../limits.ts'

export interface DeclaredType {
  readonly type: Type
  /** The fields of an object type, keyed by escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredType>
  /** The type of the keys of a map type. */
  readonly key?: DeclaredType
  /** The type of the items of a list type, or of the values of a map type. */
  readonly element?: DeclaredType
  /** Maximum number of items of a list or entries of a map, or maximum size of a string in bytes; 0 for types without a size. */
  readonly maxElements: number
  /** Minimum size in bytes of the JSON of a value. */
  readonly minSize: number
}

/**
 * Types and sizes of the formats for times and durations. The sizes are those of JSON strings with quotes (`k8s.io/apiserver/pkg/cel:
 * limits.go`).
 */
const timeSizes: Readonly<Record<string, { type: Type; minSize: number; maxElements: number }>> = {
  duration: { type: durationType, minSize: 3, maxElements: 32 },
  date: { type: timestampType, minSize: 12, maxElements: 12 },
  'date-time': { type: timestampType, minSize: 21, maxElements: 32 },
}
const stringDeclared: DeclaredType = { type: stringType, maxElements: 0, minSize: 2 }

/**
 * Returns the CEL type of a schema. If the schema, or the schema of its items or map values, has no type, the result is undefined, because
 * rules cannot read data without a type.
 *
 * @param name the name of the object type in messages, such as `selfType1.spec`.
 */
export function declareType(
  schema: StructuralSchema,
  name: string,
  isRoot = schema['x-kubernetes-embedded-resource'] === true,
): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { type: dynType, maxElements: maxCharacters(schema), minSize: 1 }
  }
  const full = isRoot ? withObjectFields(schema) : schema
  switch (full.type) {
    case 'array':
      return declareList(full, name)
    case 'object':
      return typeof full.additionalProperties === 'object' ? declareMap(full, full.additionalProperties, name) : declareObject(full, name)
    case 'string':
      return declareString(full)
    case 'boolean':
      return { type: boolType, maxElements: 0, minSize: 4 }
    case 'number':
      return { type: doubleType, maxElements: 0, minSize: 1 }
    case 'integer':
      return { type: intType, maxElements: 0, minSize: 1 }
    default:
      return undefined
  }
}

function declareList(schema: StructuralSchema, name: string): DeclaredType | undefined {
  const element = schema.items === undefined ? undefined : declareType(schema.items, `${name}.@idx`)
  if (element === undefined) return undefined
  const maxElements = Math.max(0, schema.maxItems ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 1)))
  return { type: listType(element.type), element, maxElements, minSize: 2 }
}

function declareMap(schema: StructuralSchema, values: StructuralSchema, name: string): DeclaredType | undefined {
  const element = declareType(values, `${name}.@elem`)
  if (element === undefined) return undefined
  const maxElements = Math.max(0, schema.maxProperties ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 6)))
  return { type: mapType(stringType, element.type), key: stringDeclared, element, maxElements, minSize: 2 }
}

function declareObject(schema: StructuralSchema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredType>()
  let minSize = 2
  for (const [field, child] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeIdentifier(field)
    const declared = declareType(child, `${name}.${escaped ?? field}`)
    if (declared === undefined) continue
    if (escaped !== undefined) fields.set(escaped, declared)
    // Only a required field without a default is present in every request. The JSON of a field consists of the name, the value and four
    // more characters: two quotes, a colon and a comma.
    if (schema.required?.includes(field) === true && child.default === undefined) {
      minSize += Buffer.byteLength(field) + declared.minSize + 4
    }
  }
  const declared = { fields, maxElements: 0, minSize }
  return { ...declared, type: { kind: 'struct', name, parameters: [], declared: { ...declared, type: dynType } } }
}

function declareString(schema: StructuralSchema): DeclaredType {
  const time = timeSizes[schema.format ?? '']
  if (time !== undefined) return time
  if (schema.format === 'byte') {
    return { type: bytesType, maxElements: Math.max(0, schema.maxLength ?? maxRequestBytes - 2), minSize: 2 }
  }
  const longest = (schema.enum ?? []).map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0))
  const maxElements = schema.maxLength === undefined && longest.length > 0 ? Math.max(...longest) : maxCharacters(schema)
  return { type: stringType, maxElements, minSize: 2 }
}

/**
 * Returns the maximum size of a string in bytes. kube-apiserver multiplies maxLength by four, because a character has at most four bytes.
 */
function maxCharacters({ maxLength }: StructuralSchema): number {
  return maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, maxLength) * 4
}
