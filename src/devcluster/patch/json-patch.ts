/** JSON patch, RFC 6902. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from '../../api/json.ts'
import { PatchError } from './patch-error.ts'

/** The same limit as kube-apiserver's: each operation copies the way to its target. */
const maxOperations = 10_000

/** The document with the operations applied in order; it is not changed. Throws `PatchError`. */
export function jsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!Array.isArray(patch)) throw malformed('a JSON patch is a list of operations')
  if (patch.length > maxOperations)
    throw malformed(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`)
  return patch.reduce<JsonValue>((current, operation) => applyOperation(current, operation), document)
}

function applyOperation(document: JsonValue, operation: JsonValue): JsonValue {
  if (!isObject(operation)) throw malformed('an operation of a JSON patch is an object')
  const path = pointer(operation, 'path')
  switch (operation.op) {
    case 'add':
      return add(document, path, valueOf(operation))
    case 'remove':
      return remove(document, path)
    case 'replace':
      read(document, path)
      return path.length === 0 ? valueOf(operation) : change(document, path, (holder, key) => put(holder, key, valueOf(operation)))
    case 'move': {
      const from = pointer(operation, 'from')
      if (from.length < path.length && from.every((token, index) => token === path[index]))
        throw failed('a value cannot be moved into itself')
      const value = read(document, from)
      return add(remove(document, from), path, value)
    }
    case 'copy':
      return add(document, path, read(document, pointer(operation, 'from')))
    case 'test':
      if (!jsonEqual(read(document, path), valueOf(operation))) throw failed(`testing path ${String(operation.path)} failed`)
      return document
    default:
      throw malformed(`unexpected kind of operation: ${JSON.stringify(operation.op) ?? 'none'}`)
  }
}

function add(document: JsonValue, path: readonly string[], value: JsonValue): JsonValue {
  if (path.length === 0) return value
  return change(document, path, (holder, key) => {
    if (!Array.isArray(holder)) return put(holder, key, value)
    const index = key === '-' ? holder.length : indexOf(key, holder.length)
    return [...holder.slice(0, index), value, ...holder.slice(index)]
  })
}

function remove(document: JsonValue, path: readonly string[]): JsonValue {
  if (path.length === 0) return null
  read(document, path)
  return change(document, path, (holder, key) => {
    if (Array.isArray(holder)) return holder.filter((_, index) => index !== Number(key))
    const { ...rest } = holder
    delete rest[key]
    return rest
  })
}

function read(document: JsonValue, path: readonly string[]): JsonValue {
  return path.reduce<JsonValue>((value, token) => child(value, token), document)
}

/** Copies the way to the last token's holder, and lets `edit` replace that. */
function change(
  document: JsonValue,
  path: readonly string[],
  edit: (holder: JsonObject | JsonValue[], key: string) => JsonValue,
): JsonValue {
  const [token = '', ...rest] = path
  if (!Array.isArray(document) && !isObject(document)) throw failed(`there is nothing at ${JSON.stringify(token)}`)
  if (rest.length === 0) return edit(document, token)
  return put(document, token, change(child(document, token), rest, edit))
}

function put(holder: JsonObject | JsonValue[], key: string, value: JsonValue): JsonValue {
  if (Array.isArray(holder)) return holder.with(indexOf(key, holder.length - 1), value)
  const copy = { ...holder }
  setOwn(copy, key, value)
  return copy
}

function child(value: JsonValue, token: string): JsonValue {
  const found = Array.isArray(value) ? value[indexOf(token, value.length - 1)] : isObject(value) ? getOwn(value, token) : undefined
  if (found === undefined) throw failed(`there is nothing at ${JSON.stringify(token)}`)
  return found
}

function indexOf(token: string, max: number): number {
  if (!/^(0|[1-9]\d*)$/.test(token) || Number(token) > max) throw failed(`${JSON.stringify(token)} is no index of the list`)
  return Number(token)
}

function pointer(operation: JsonObject, field: 'path' | 'from'): string[] {
  const text = operation[field]
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/')))
    throw malformed(`${field} is no JSON pointer: ${JSON.stringify(text) ?? 'none'}`)
  return text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueOf(operation: JsonObject): JsonValue {
  if (operation.value === undefined) throw malformed(`operation ${JSON.stringify(operation.op)} has no value`)
  return operation.value
}

function malformed(message: string): PatchError {
  return new PatchError('malformed', message)
}

function failed(message: string): PatchError {
  return new PatchError('failed', message)
}
