/** Errors of structural schemas as strings that tests compare. */
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'

/** Returns the errors of a root schema, sorted. */
export function schemaErrors(schema: object): string[] {
  return checkStructural(schema as StructuralSchema)
    .map(({ path, message }) => `${path}: ${message}`)
    .sort()
}

/** Returns the errors of a schema at `spec`, with paths relative to it. */
export function specSchemaErrors(spec: object): string[] {
  const start = /^properties\[spec\]\.?/
  return schemaErrors({ type: 'object', properties: { spec } })
    .map((line) => line.replace(start, ''))
    .sort()
}
