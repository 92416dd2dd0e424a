/**
 * Validates the fields of CEL rules, without compiling the expressions (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation:
 * ValidateCustomResourceDefinitionOpenAPISchema`). If a rule has an invalid field, `checkStructural` compiles neither the rules of the same
 * schema node nor the rules of the nodes above.
 */
import type { FieldError } from '../api/field-error.ts'
import { invalid, notSupported, required } from '../api/field-error.ts'
import type { StructuralSchema, ValidationRule } from '../api/structural-schema.ts'
import { childPath, indexPath } from '../api/field-path.ts'
import { normalizeFieldPath } from './field-path.ts'
import { trimSpace } from './types/trim-space.ts'

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const lineBreak = /[\n\r]/

/** Returns the errors in the rules of one schema node. `path` is the path of the node. */
export function ruleShapeErrors(schema: StructuralSchema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const place = indexPath(childPath(path, 'x-kubernetes-validations'), index)
    return [...textErrors(rule, place), ...targetErrors(rule, place, schema)]
  })
}

function textErrors({ rule, message = '', messageExpression = '' }: ValidationRule, place: string): FieldError[] {
  const trimmed = trimSpace(message)
  const errors: FieldError[] = []
  if (typeof rule !== 'string' || trimSpace(rule) === '') errors.push(required(childPath(place, 'rule'), 'rule is not specified'))
  else if (message !== '' && trimmed === '') errors.push(invalid(childPath(place, 'message'), message, 'must be non-empty if specified'))
  else if (lineBreak.test(trimmed)) errors.push(invalid(childPath(place, 'message'), message, 'must not contain line breaks'))
  else if (lineBreak.test(trimSpace(rule)) && trimmed === '') {
    errors.push(required(childPath(place, 'message'), 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && trimSpace(messageExpression) === '') {
    errors.push(required(childPath(place, 'messageExpression'), 'messageExpression must be non-empty if specified'))
  }
  return errors
}

function targetErrors({ reason, fieldPath = '' }: ValidationRule, place: string, schema: StructuralSchema): FieldError[] {
  const at = childPath(place, 'fieldPath')
  const errors: FieldError[] = []
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(childPath(place, 'reason'), reason, reasons))
  if (fieldPath === '') return errors
  if (trimSpace(fieldPath) === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'))
  if (lineBreak.test(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'))
  if (normalizeFieldPath(fieldPath, schema) === undefined) errors.push(invalid(at, fieldPath, 'must be a valid path'))
  return errors
}
