/** A structural OpenAPI v3 schema as JSON, as in `JSONSchemaProps` of `apiextensions.k8s.io/v1`. */
import type { JsonValue } from './json.ts'

export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  title?: string
  description?: string
  format?: string
  nullable?: boolean
  default?: JsonValue
  example?: JsonValue
  enum?: JsonValue[]
  // Keywords for objects.
  properties?: Record<string, StructuralSchema>
  additionalProperties?: StructuralSchema | boolean
  required?: string[]
  minProperties?: number
  maxProperties?: number
  // Keywords for arrays.
  items?: StructuralSchema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  // Keywords for strings.
  minLength?: number
  maxLength?: number
  pattern?: string
  // Keywords for numbers.
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  // Keywords that combine schemas.
  allOf?: StructuralSchema[]
  anyOf?: StructuralSchema[]
  oneOf?: StructuralSchema[]
  not?: StructuralSchema
  externalDocs?: { description?: string; url?: string }
  // Keywords that Kubernetes adds to OpenAPI.
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: ValidationRule[]
}

/** A CEL rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  fieldPath?: string
  optionalOldSelf?: boolean
}
