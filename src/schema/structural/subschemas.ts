/** Functions that return the subschemas of a schema. */
import type { FieldError } from '../../api/field-error.ts'
import { invalid } from '../../api/field-error.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { childPath, indexPath, keyPath } from '../../api/field-path.ts'

export interface SchemaAt {
  readonly schema: StructuralSchema
  readonly path: string
}

/** Returns true if a value is a schema. Schemas are read from files, so a value can differ from its TypeScript type. */
export function isSchema(schema: unknown): schema is StructuralSchema {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
}

/** Returns the schemas of allOf, anyOf, oneOf and not. */
export function branchesOf(schema: StructuralSchema, path: string): SchemaAt[] {
  const several = (keyword: 'allOf' | 'anyOf' | 'oneOf'): SchemaAt[] =>
    (schema[keyword] ?? []).map((branch, index) => ({ schema: branch, path: indexPath(childPath(path, keyword), index) }))
  const not = isSchema(schema.not) ? [{ schema: schema.not, path: childPath(path, 'not') }] : []
  return [...several('anyOf'), ...several('allOf'), ...several('oneOf'), ...not]
}

/** Returns the schemas of properties, items and additionalProperties. */
function childrenOf(schema: StructuralSchema, path: string): SchemaAt[] {
  const { items, additionalProperties, properties } = schema
  return [
    ...(isSchema(items) ? [{ schema: items, path: childPath(path, 'items') }] : []),
    ...Object.entries(properties ?? {}).map(([key, child]) => ({ schema: child, path: keyPath(childPath(path, 'properties'), key) })),
    ...(isSchema(additionalProperties) ? [{ schema: additionalProperties, path: childPath(path, 'additionalProperties') }] : []),
  ]
}

/** Returns all direct subschemas of a schema. */
export function subschemas(schema: StructuralSchema): StructuralSchema[] {
  return [...branchesOf(schema, ''), ...childrenOf(schema, '')].map((one) => one.schema)
}

/** Returns the schema of a property. Properties that JavaScript objects inherit are ignored. */
export function ownProperty({ properties }: StructuralSchema, name: string): StructuralSchema | undefined {
  return properties !== undefined && properties !== null && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** Returns an error for the first subschema that is not a JSON object; undefined if all of them are JSON objects. */
export function malformedSchema(schema: unknown, path: string): FieldError | undefined {
  if (!isSchema(schema)) return invalid(path, schema, 'must be a schema')
  for (const child of [...branchesOf(schema, path), ...childrenOf(schema, path)]) {
    const found = malformedSchema(child.schema, child.path)
    if (found !== undefined) return found
  }
  return undefined
}
