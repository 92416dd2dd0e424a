/** Returns the errors of structural schemas as strings, which tests compare. */
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'

/** Returns the errors of a root schema as `PATH: MESSAGE`, sorted. */
export function schemaErrors(schema: object): string[] {
  return checkStructural(schema as StructuralSchema)
    .map(({ path, message }) => `${path}: ${message}`)
    .sort()
}

/** Returns the errors of the schema of the field `spec`. The paths of the errors are relative to this schema. */
export function specSchemaErrors(spec: object): string[] {
  const start = /^properties\[spec\]\.?/
  return schemaErrors({ type: 'object', properties: { spec } })
    .map((line) => line.replace(start, ''))
    .sort()
}
