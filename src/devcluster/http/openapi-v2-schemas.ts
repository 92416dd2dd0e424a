/** The schemas of the OpenAPI v2 document. They are derived from the schemas of the OpenAPI v3 documents. */
import type { JsonObject } from '../../api/json.ts'
import { isObject, setOwn } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'

/**
 * Converts a schema from OpenAPI v3 to v2:
 *
 * - References get the prefix of v2.
 * - The reference in `allOf` becomes the `$ref` of the schema. Only v3 needs `allOf` to combine a reference with other keywords.
 * - `anyOf`, `oneOf`, `not` and `nullable` are removed, because v2 does not have them. A schema with `oneOf` gets the type `string`.
 *
 * @param options.builtin if true, `x-kubernetes-preserve-unknown-fields` is removed, because clients ignore the properties of a schema with
 *   this extension.
 */
export function v2Schema(schema: JsonObject, options: { readonly builtin?: boolean } = {}): JsonObject {
  const { allOf, anyOf: _anyOf, oneOf, not: _not, nullable: _nullable, $ref, properties, items, additionalProperties, ...rest } = schema
  const result: JsonObject = rest
  if (options.builtin === true) delete result['x-kubernetes-preserve-unknown-fields']
  if (oneOf !== undefined) result.type = 'string'
  const [whole] = Array.isArray(allOf) ? allOf : []
  const reference = $ref ?? (isObject(whole) ? whole.$ref : undefined)
  if (typeof reference === 'string') result.$ref = reference.replace('#/components/schemas/', '#/definitions/')
  if (isObject(properties)) {
    const converted: JsonObject = {}
    for (const [name, field] of Object.entries(properties)) setOwn(converted, name, v2Schema(field as JsonObject, options))
    result.properties = converted
  }
  if (isObject(items)) result.items = v2Schema(items, options)
  if (additionalProperties !== undefined)
    result.additionalProperties = isObject(additionalProperties) ? v2Schema(additionalProperties, options) : additionalProperties
  return result
}

/**
 * Keywords to remove from a schema. OpenAPI v2 has the keyword `default`, but kube-apiserver removes all defaults
 * (k8s.io/kube-openapi/pkg/handler: PruneDefaults).
 */
const unsupported = ['allOf', 'anyOf', 'oneOf', 'not', 'default'] as const

/**
 * Removes the parts of a CRD's schema that OpenAPI v2 or kubectl does not support
 * (k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2: ToStructuralOpenAPIV2):
 *
 * - the keywords in `unsupported`, and the keyword `nullable`
 * - `type`, `properties` and `items` in the schema of a value that may be null
 * - `type`, `properties` and `items` in the schema of an object or a list with `x-kubernetes-preserve-unknown-fields: true`
 * - the names in `required` that `requiredFields` omits
 */
export function supportedSchema(schema: StructuralSchema): StructuralSchema {
  const { nullable, properties, items, additionalProperties, ...rest } = schema
  const result: StructuralSchema = rest
  for (const name of unsupported) delete result[name]
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  if (nullable !== true && !isOpen) {
    if (properties !== undefined)
      result.properties = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, supportedSchema(field)]))
    if (items !== undefined) result.items = supportedSchema(items)
  }
  const isUntyped = nullable === true || (isOpen && result.type === 'object') || (result.items === undefined && result.type === 'array')
  if (isUntyped) delete result.type
  if (additionalProperties !== undefined)
    result.additionalProperties = typeof additionalProperties === 'boolean' ? additionalProperties : supportedSchema(additionalProperties)
  const required = requiredFields(schema, result.properties ?? {})
  if (required.length === 0) delete result.required
  else result.required = required
  return result
}

/**
 * Returns the names in `required`, without the properties in `published` that may be null. If the schema in `additionalProperties` allows
 * null, returns an empty list.
 */
function requiredFields(
  { required = [], properties = {}, additionalProperties }: StructuralSchema,
  published: Readonly<Record<string, StructuralSchema>>,
): string[] {
  if (typeof additionalProperties === 'object' && additionalProperties.nullable === true) return []
  return required.filter((name) => !Object.hasOwn(published, name) || properties[name]!.nullable !== true)
}
