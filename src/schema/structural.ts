/**
 * What the API server demands of a CustomResourceDefinition's schema (apiextensions `validateCustomResourceDefinitionValidation`):
 * that it is structural, that its defaults are valid, and what an OpenAPI schema may say at all.
 */
import type { FieldError } from '../api/field-error.ts'
import { forbidden, formatFieldError, invalid } from '../api/field-error.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { checkRules } from './cel/check-rules.ts'
import { isDeeperThan } from './depth.ts'
import { childPath } from './path.ts'
import { defaultErrors } from './structural-defaults.ts'
import { invariantErrors } from './structural-invariants.ts'
import { completenessErrors } from './structural-junctors.ts'
import { openapiErrors } from './structural-openapi.ts'
import { malformedSchema, subschemas } from './structural-parts.ts'

/** Schemas are written by people; this is only so that no schema can exhaust the stack. A field takes two levels. */
const maxSchemaNesting = 300

/** Everything that is wrong with a schema, each once. */
export function checkStructural(schema: StructuralSchema, path = ''): FieldError[] {
  if (isDeeperThan(schema, maxSchemaNesting)) return [forbidden(path, `must not be nested deeper than ${maxSchemaNesting} levels`)]
  const malformed = malformedSchema(schema, path)
  if (malformed !== undefined) return [malformed]
  const nullable = schema.nullable === true ? [forbidden(childPath(path, 'nullable'), 'nullable cannot be true at the root')] : []
  const unsupported = unsupportedKeyword(schema)
  const structural = unsupported === undefined ? structuralErrors(schema, path) : []
  const openapi = openapiErrors(schema, path)
  // The types of what rules speak of come from the schema: where it is wrong, or wrong below, no rule is looked at.
  const rules = unsupported === undefined && structural.length === 0 ? checkRules(schema, path, (place) => isWrongFrom(place, openapi)) : []
  const errors = [...nullable, ...structural, ...openapi, ...rules]
  // What is not even supported has an error of its own, as a rule.
  if (errors.length === 0 && unsupported !== undefined) return [invalid(path, '', unsupported)]
  return [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

function isWrongFrom(place: string, errors: readonly FieldError[]): boolean {
  return errors.some(
    ({ path }) => path.startsWith(place) && (place === '' || path.length === place.length || '.['.includes(path[place.length]!)),
  )
}

function structuralErrors(schema: StructuralSchema, path: string): FieldError[] {
  const errors = [...invariantErrors(schema, path), ...completenessErrors(schema, path)]
  // Defaults are values of the schema, and can be checked only against one that is sound.
  return errors.length > 0 ? errors : defaultErrors(schema, path)
}

/** Without these, a schema cannot be read as a structural one. */
const unsupportedKeywords = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
] as const

function unsupportedKeyword(schema: StructuralSchema): string | undefined {
  const keywords = schema as unknown as Record<string, unknown>
  const found = unsupportedKeywords.find(([keyword]) => Object.hasOwn(keywords, keyword) && isSet(keyword, keywords[keyword]))
  if (found !== undefined) return `OpenAPIV3Schema '${found[1]}' is not supported`
  if ((schema['x-kubernetes-preserve-unknown-fields'] as unknown) === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  for (const child of subschemas(schema)) {
    const problem = unsupportedKeyword(child)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isSet(keyword: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return keyword === 'additionalItems' || typeof value !== 'object' || Object.keys(value).length > 0
}
