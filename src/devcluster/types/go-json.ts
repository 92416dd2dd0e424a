/** What Go's decoder of JSON says about a value of another kind than it wants. */
import type { JsonValue } from '../../api/json.ts'

/** How it calls the kind of a JSON value. */
export function goKindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (value !== null && typeof value === 'object') return 'object'
  return value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value
}

/** What it says of a body that is no object. */
export function notAnObject(value: JsonValue): string {
  const header = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${goKindOf(value)} into Go value of type ${header}`
}
