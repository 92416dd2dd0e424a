/** The fields of the schemas in a CustomResourceDefinition, for decoding them, and the formats that mean something in them. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { formatOf } from '../../schema/formats.ts'
import type { ObjectShape, Shape } from '../resources/resource-info.ts'

/** `apiextensions.k8s.io/v1 JSONSchemaProps`. */
export const schemaShape: ObjectShape = {
  type: 'JSONSchemaProps',
  get fields() {
    return schemaFields
  },
}

const schemas: Shape = { mapOf: schemaShape }
const schemaOrOther: Shape = { objectOr: schemaShape }

const schemaFields: ObjectShape['fields'] = {
  id: 'string',
  $schema: 'string',
  $ref: 'string',
  description: 'string',
  type: 'string',
  format: 'string',
  title: 'string',
  default: 'any',
  maximum: 'float64',
  exclusiveMaximum: 'bool',
  minimum: 'float64',
  exclusiveMinimum: 'bool',
  maxLength: 'int64',
  minLength: 'int64',
  pattern: 'string',
  maxItems: 'int64',
  minItems: 'int64',
  uniqueItems: 'bool',
  multipleOf: 'float64',
  enum: ['any'],
  maxProperties: 'int64',
  minProperties: 'int64',
  required: ['string'],
  items: schemaOrOther,
  allOf: [schemaShape],
  oneOf: [schemaShape],
  anyOf: [schemaShape],
  not: schemaShape,
  properties: schemas,
  additionalProperties: schemaOrOther,
  patternProperties: schemas,
  dependencies: 'any',
  additionalItems: schemaOrOther,
  definitions: schemas,
  externalDocs: { type: 'ExternalDocumentation', fields: { description: 'string', url: 'string' } },
  example: 'any',
  nullable: 'bool',
  'x-kubernetes-preserve-unknown-fields': 'bool',
  'x-kubernetes-embedded-resource': 'bool',
  'x-kubernetes-int-or-string': 'bool',
  'x-kubernetes-list-map-keys': ['string'],
  'x-kubernetes-list-type': 'string',
  'x-kubernetes-map-type': 'string',
  'x-kubernetes-validations': [
    {
      type: 'ValidationRule',
      fields: {
        rule: 'string',
        message: 'string',
        messageExpression: 'string',
        reason: 'string',
        fieldPath: 'string',
        optionalOldSelf: 'bool',
      },
    },
  ],
}

/** Whether the API server checks a format for a type (apiextensions `pkg/apiserver/validation/formats.go`). */
function isFormatOf(type: JsonValue | undefined, format: string): boolean {
  if (type === 'integer') return format === 'int32' || format === 'int64'
  if (type === 'number') return format === 'float' || format === 'double'
  return (type === undefined || type === '' || type === 'string') && formatOf(format) !== undefined
}

/** The formats in a definition's schemas that are no formats: they are kept, and check nothing. */
export function unknownFormats(definition: JsonObject): readonly string[] {
  const found = new Set<string>()
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isObject(value)) return
    const { type, format, properties, additionalProperties, items, allOf, anyOf, oneOf, not } = value
    if (typeof format === 'string' && format !== '' && !isFormatOf(type, format)) found.add(format)
    if (isObject(properties)) Object.values(properties).forEach(visit)
    for (const part of [additionalProperties, items, allOf, anyOf, oneOf, not]) visit(part)
  }
  const { spec } = definition
  const versions = isObject(spec) && Array.isArray(spec.versions) ? spec.versions : []
  for (const version of versions) if (isObject(version) && isObject(version.schema)) visit(version.schema.openAPIV3Schema)
  return [...found]
}
