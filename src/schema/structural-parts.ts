/** The schemas that a schema is made of. */
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childPath, indexPath, keyPath } from './path.ts'

export interface SchemaAt {
  readonly schema: StructuralSchema
  readonly path: string
}

/** Schemas are read from files: whatever their type says, anything may stand there. */
export function isSchema(schema: unknown): schema is StructuralSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}

/** The schemas of allOf, anyOf, oneOf and not. */
export function branchesOf(schema: StructuralSchema, path: string): SchemaAt[] {
  const several = (keyword: 'allOf' | 'anyOf' | 'oneOf'): SchemaAt[] =>
    (schema[keyword] ?? []).map((branch, index) => ({ schema: branch, path: indexPath(childPath(path, keyword), index) }))
  const not = isSchema(schema.not) ? [{ schema: schema.not, path: childPath(path, 'not') }] : []
  return [...several('anyOf'), ...several('allOf'), ...several('oneOf'), ...not]
}

/** The schemas of properties, items and additionalProperties. */
function childrenOf(schema: StructuralSchema, path: string): SchemaAt[] {
  const { items, additionalProperties, properties } = schema
  return [
    ...(isSchema(items) ? [{ schema: items, path: childPath(path, 'items') }] : []),
    ...Object.entries(properties ?? {}).map(([key, child]) => ({ schema: child, path: keyPath(childPath(path, 'properties'), key) })),
    ...(isSchema(additionalProperties) ? [{ schema: additionalProperties, path: childPath(path, 'additionalProperties') }] : []),
  ]
}

/** All schemas directly below. */
export function subschemas(schema: StructuralSchema): StructuralSchema[] {
  return [...branchesOf(schema, ''), ...childrenOf(schema, '')].map((one) => one.schema)
}

/** A property that the schema itself names. */
export function ownProperty({ properties }: StructuralSchema, name: string): StructuralSchema | undefined {
  return properties !== undefined && properties !== null && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The first place that is no schema at all; undefined when there is none. */
export function malformedSchema(schema: unknown, path: string): FieldError | undefined {
  if (!isSchema(schema)) return invalid(path, schema, 'must be a schema')
  for (const child of [...branchesOf(schema, path), ...childrenOf(schema, path)]) {
    const found = malformedSchema(child.schema, child.path)
    if (found !== undefined) return found
  }
  return undefined
}
