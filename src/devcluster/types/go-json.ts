/** Messages of Go's JSON decoder about values of a wrong type. */
import type { JsonValue } from '../../api/json.ts'

/** Returns the name that Go's JSON decoder uses in its messages for the JSON type of the value, e.g. `bool` for a boolean. */
export function goKindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (value !== null && typeof value === 'object') return 'object'
  if (value === null) return 'null'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value
}

/** Returns the message for a body that is not a JSON object. */
export function notAnObject(value: JsonValue): string {
  const header = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${goKindOf(value)} into Go value of type ${header}`
}
