/**
 * Validates the schema of a CustomResourceDefinition as kube-apiserver does
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation: validateCustomResourceDefinitionValidation`). The schema must be
 * structural, its defaults must be valid, and its OpenAPI keywords must be supported.
 */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, formatFieldError, invalid } from '../../api/field-error.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { checkRules } from '../../cel/check-rules.ts'
import { isDeeperThan } from '../depth.ts'
import { childPath } from '../../api/field-path.ts'
import { defaultErrors } from './check-defaults.ts'
import { invariantErrors } from './check-invariants.ts'
import { completenessErrors } from './check-junctors.ts'
import { openapiErrors } from './check-openapi.ts'
import { malformedSchema, subschemas } from './subschemas.ts'

/**
 * Maximum nesting of a schema. The limit protects the stack of recursive functions. Each field adds two levels, and schemas in practice
 * have far fewer levels than the limit.
 */
const maxSchemaNesting = 300

/** Returns all errors of a schema, without duplicates. */
export function checkStructural(schema: StructuralSchema, path = ''): FieldError[] {
  if (isDeeperThan(schema, maxSchemaNesting)) return [forbidden(path, `must not be nested deeper than ${maxSchemaNesting} levels`)]
  const malformed = malformedSchema(schema, path)
  if (malformed !== undefined) return [malformed]
  const nullable = schema.nullable === true ? [forbidden(childPath(path, 'nullable'), 'nullable cannot be true at the root')] : []
  const unsupported = unsupportedKeyword(schema)
  const structural = unsupported === undefined ? structuralErrors(schema, path) : []
  const openapi = openapiErrors(schema, path)
  // Rules are type-checked against the schema. If there is a structural error, no rule is checked. If `openapi` contains an error about a
  // schema or one of its subschemas, the rules of this schema are not checked.
  const rules =
    unsupported === undefined && structural.length === 0 ? checkRules(schema, path, (place) => hasErrorsFrom(place, openapi)) : []
  const errors = [...nullable, ...structural, ...openapi, ...rules]
  // If there are other errors, `openapiErrors` may already have reported the unsupported keyword. Therefore, the keyword is reported here
  // only if there are no other errors.
  if (errors.length === 0 && unsupported !== undefined) return [invalid(path, '', unsupported)]
  return [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

function hasErrorsFrom(place: string, errors: readonly FieldError[]): boolean {
  return errors.some(
    ({ path }) => path.startsWith(place) && (place === '' || path.length === place.length || '.['.includes(path[place.length]!)),
  )
}

function structuralErrors(schema: StructuralSchema, path: string): FieldError[] {
  const errors = [...invariantErrors(schema, path), ...completenessErrors(schema, path)]
  // Defaults are validated with the schema, so the schema must be structural first.
  return errors.length > 0 ? errors : defaultErrors(schema, path)
}

/** Keywords for which kube-apiserver's `NewStructural` returns an error. The second name is the name in the error message. */
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
