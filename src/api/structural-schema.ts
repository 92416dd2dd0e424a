/** The JSON form of a structural OpenAPI v3 schema, as in `apiextensions.k8s.io/v1 JSONSchemaProps`. */
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
  // objects
  properties?: Record<string, StructuralSchema>
  additionalProperties?: StructuralSchema | boolean
  required?: string[]
  minProperties?: number
  maxProperties?: number
  // arrays
  items?: StructuralSchema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  // strings
  minLength?: number
  maxLength?: number
  pattern?: string
  // numbers
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  // junctors
  allOf?: StructuralSchema[]
  anyOf?: StructuralSchema[]
  oneOf?: StructuralSchema[]
  not?: StructuralSchema
  externalDocs?: { description?: string; url?: string }
  // extensions
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-validations'?: ValidationRule[]
}

/** A CEL rule. */
export interface ValidationRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  fieldPath?: string
  optionalOldSelf?: boolean
}
