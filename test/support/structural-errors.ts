/** What is wrong with a schema, as texts that tests compare. */
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural.ts'

/** The errors of a whole object's schema, sorted. */
export function toldOfRoot(schema: object): string[] {
  return checkStructural(schema as StructuralSchema)
    .map(({ path, message }) => `${path}: ${message}`)
    .sort()
}

/** The errors of a schema that stands under `spec`, their paths shortened to what is below it. */
export function toldBelow(spec: object): string[] {
  const start = /^properties\[spec\]\.?/
  return toldOfRoot({ type: 'object', properties: { spec } })
    .map((line) => line.replace(start, ''))
    .sort()
}
