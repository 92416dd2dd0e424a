/** Formats values and type names like Go's `fmt`, for kube-apiserver's error messages. */
import type { JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'

/** Formats a value like Go's `%v`. */
export function goText(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key])}`)
    .join(' ')}]`
}

/** Formats a value like Go's `%#v`. */
export function goSyntax(value: JsonValue): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isObject(value)) return value === null ? 'interface {}(nil)' : stringifyJson(value)!
  const fields = Object.keys(value).sort()
  return `map[string]interface {}{${fields.map((key) => `${JSON.stringify(key)}:${goSyntax(value[key]!)}`).join(', ')}}`
}

/** Returns the Go type of a decoded JSON value, as `%T` formats it. */
export function goTypeName(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return isObject(value) ? 'map[string]interface {}' : typeof value === 'boolean' ? 'bool' : typeof value
}

/** Returns the `reflect.Kind` of a decoded JSON value. */
export function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'slice'
  return isObject(value) ? 'map' : goTypeName(value)
}
