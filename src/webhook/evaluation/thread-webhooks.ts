/**
 * Serializes webhooks for a worker thread. A serialized webhook contains the schema of its kind, but not the functions that handle
 * requests.
 */
import type { BuiltinTypeName } from '../../api/builtin-types.ts'
import { builtinTypeOf, withBuiltinType } from '../../api/builtin-types.ts'
import { stringifyJson } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import type { CombinedWebhook } from '../definition/combine.ts'

/** The properties of a webhook that a worker thread needs. */
export type ThreadWebhook = Pick<CombinedWebhook, 'schemaKind' | 'version' | 'subresource'>

/**
 * In the serialized schema, this property marks each subschema that `Type.Builtin` has created. Its value is the name of the built-in type.
 */
const note = '~builtinType'

export function writeThreadWebhooks(webhooks: readonly ThreadWebhook[]): string {
  return stringifyJson(webhooks.map(({ schemaKind, version, subresource }) => ({ schemaKind: noted(schemaKind), version, subresource })))
}

export function readThreadWebhooks(text: string): readonly ThreadWebhook[] {
  return marked(parseJson(text)) as readonly ThreadWebhook[]
}

function noted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(noted)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, noted(item)]))
  const name = builtinTypeOf(value)
  return name === undefined ? copy : { ...copy, [note]: name }
}

function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(marked)
  if (typeof value !== 'object' || value === null) return value
  const { [note]: name, ...rest } = value as Record<string, unknown>
  const copy = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, marked(item)]))
  return name === undefined ? copy : withBuiltinType(copy, name as BuiltinTypeName)
}
