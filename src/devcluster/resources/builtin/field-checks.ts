/** Rules for single fields of built-in types, and the format of structs in kube-apiserver's errors. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { at, textAt } from '../../apimachinery/unstructured.ts'

/** Go names that differ from the capitalized JSON name, keyed by the JSON name. */
const goNames: Readonly<Record<string, string>> = { apiGroup: 'APIGroup', seLinuxOptions: 'SELinuxOptions' }

/**
 * Returns a struct in the form in which kube-apiserver prints the struct in errors. The result contains all `fields`, with their Go names
 * as keys. A missing field is null.
 */
export function goStruct(value: JsonValue | undefined, fields: readonly string[]): JsonObject {
  const goName = (field: string): string => field[0]!.toUpperCase() + field.slice(1)
  return Object.fromEntries(fields.map((field) => [goNames[field] ?? goName(field), at(value, field) ?? null]))
}

/** Returns the error "Invalid value" for a struct. The message contains the result of `goStruct`. */
export function invalidStruct(path: string, value: JsonValue | undefined, fields: readonly string[], detail: string): FieldError {
  const printed = JSON.stringify(goStruct(value, fields))
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${printed}: ${detail}` }
}

/** Returns the error "Unsupported value" for a struct. The message contains the struct in the form that `goStruct` returns. */
export function notSupportedStruct(
  path: string,
  value: JsonValue | undefined,
  fields: readonly string[],
  values: readonly string[],
): FieldError {
  const printed = JSON.stringify(goStruct(value, fields))
  const supported = values.map((name) => JSON.stringify(name)).join(', ')
  return { path, reason: 'FieldValueNotSupported', message: `Unsupported value: ${printed}: supported values: ${supported}` }
}

export function nonNegative(value: JsonValue | undefined, path: string): FieldError[] {
  return typeof value === 'number' && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []
}

export function immutable(value: JsonValue | undefined, old: JsonValue | undefined, path: string): FieldError[] {
  return jsonEqual(value ?? null, old ?? null) ? [] : [invalid(path, value ?? null, 'field is immutable')]
}

/** Validates an enum field that must be present and not empty. */
export function validateEnum(object: JsonObject, field: string, path: string, values: readonly string[]): FieldError[] {
  const value = textAt(object, field)
  if (value === '') return [required(below(path, field))]
  return values.includes(value) ? [] : [notSupported(below(path, field), value, values)]
}

/** Validates an enum field that may be missing. An empty value is invalid. */
export function validateOptionalEnum(object: JsonObject, field: string, path: string, values: readonly string[]): FieldError[] {
  const value = object[field]
  return typeof value !== 'string' || values.includes(value) ? [] : [notSupported(below(path, field), value, values)]
}

function below(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

export function validatePort(port: JsonValue, path: string): FieldError[] {
  return typeof port === 'number' && port >= 1 && port <= 65_535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')]
}

/** Validates a port number or the name of a port. */
export function validatePortOrName(port: JsonValue | undefined, path: string): FieldError[] {
  return typeof port === 'string' ? portNameErrors(port).map((detail) => invalid(path, port, detail)) : validatePort(port ?? 0, path)
}

export function portNameErrors(name: string): string[] {
  return [
    ...(name.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ]
}

/** Returns the items of a list with their indices. All items are JSON objects, because decoding has rejected any other item. */
export function objects(list: readonly JsonValue[]): (readonly [JsonObject, number])[] {
  return list.flatMap((item, index) => (isObject(item) ? [[item, index] as const] : []))
}
