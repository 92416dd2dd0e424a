/** Checks that the schemas of a kind contain no unknown keywords. Without this check, a misspelled keyword would be ignored. */
import type { OptionCheck } from './option-checks.ts'
import { hasOptions, isAnObject, isAnything, isListOf, isMapOf } from './option-checks.ts'
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

const ruleOptions = {
  rule: isAnything,
  message: isAnything,
  messageExpression: isAnything,
  reason: isAnything,
  fieldPath: isAnything,
  optionalOldSelf: isAnything,
} satisfies Record<keyof ValidationRule, OptionCheck>
export const isRule: OptionCheck = hasOptions(ruleOptions, ['rule'])

const isSchemaOrBoolean: OptionCheck = (value, path) => (typeof value === 'boolean' ? [] : isSchema(value, path))
const areSchemas: OptionCheck = (value, path) => isListOf(isSchema)(value, path)

/** The keywords that a schema may contain. `checkStructural` validates their values later. */
const keywords = {
  type: isAnything,
  title: isAnything,
  description: isAnything,
  format: isAnything,
  nullable: isAnything,
  default: isAnything,
  example: isAnything,
  enum: isAnything,
  properties: (value, path) => isMapOf(isSchema)(value, path),
  additionalProperties: isSchemaOrBoolean,
  required: isAnything,
  minProperties: isAnything,
  maxProperties: isAnything,
  items: (value, path) => isSchema(value, path),
  minItems: isAnything,
  maxItems: isAnything,
  uniqueItems: isAnything,
  minLength: isAnything,
  maxLength: isAnything,
  pattern: isAnything,
  minimum: isAnything,
  maximum: isAnything,
  exclusiveMinimum: isAnything,
  exclusiveMaximum: isAnything,
  multipleOf: isAnything,
  allOf: areSchemas,
  anyOf: areSchemas,
  oneOf: areSchemas,
  not: (value, path) => isSchema(value, path),
  externalDocs: isAnObject,
  'x-kubernetes-int-or-string': isAnything,
  'x-kubernetes-preserve-unknown-fields': isAnything,
  'x-kubernetes-embedded-resource': isAnything,
  'x-kubernetes-list-type': isAnything,
  'x-kubernetes-list-map-keys': isAnything,
  'x-kubernetes-map-type': isAnything,
  'x-kubernetes-validations': isListOf(isRule),
} satisfies Record<keyof StructuralSchema, OptionCheck>

/**
 * Accepts a schema that contains no keywords other than `keywords`. Functions of `Type` create such schemas; a schema can also be written
 * as JSON.
 */
export const isSchema: OptionCheck = hasOptions(keywords)
