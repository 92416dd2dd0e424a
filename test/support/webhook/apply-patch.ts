/** Applies the patch of a mutating webhook, as an API server does. This implementation of RFC 6902 is independent of the tested code. */
import { isObject, setOwn } from '../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { PatchOperation } from '../../../src/webhook/review/patch.ts'

/**
 * Returns a copy of `document` to which the operations are applied in order. Throws when an operation fails by the rules of RFC 6902 (JSON
 * Patch).
 */
export function applyPatch(document: JsonValue, operations: readonly PatchOperation[]): JsonValue {
  const root: JsonObject = { root: structuredCloneOwn(document) }
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1).map(unescape)
    if (operation.path !== '' && !operation.path.startsWith('/')) throw new Error(`no JSON pointer: ${operation.path}`)
    const last = keys.pop() ?? 'root'
    let parent: JsonValue = operation.path === '' ? root : root.root!
    for (const key of keys) parent = child(parent, key)
    if (Array.isArray(parent)) applyToArray(parent, last, operation)
    else if (isObject(parent)) applyToObject(parent, last, operation)
    else throw new Error(`${operation.path}: the parent is no container`)
  }
  return root.root!
}

function applyToArray(array: JsonValue[], key: string, operation: PatchOperation): void {
  const end = operation.op === 'add' ? array.length : array.length - 1
  const index = key === '-' && operation.op === 'add' ? array.length : Number(key)
  if (!/^(-|0|[1-9]\d*)$/.test(key) || index > end) throw new Error(`${operation.path}: no such index`)
  if (operation.op === 'add') array.splice(index, 0, structuredCloneOwn(operation.value))
  else if (operation.op === 'remove') array.splice(index, 1)
  else array[index] = structuredCloneOwn(operation.value)
}

function applyToObject(object: JsonObject, key: string, operation: PatchOperation): void {
  if (operation.op !== 'add' && !Object.hasOwn(object, key)) throw new Error(`${operation.path}: no such key`)
  if (operation.op === 'remove') delete object[key]
  else setOwn(object, key, structuredCloneOwn(operation.value))
}

function child(parent: JsonValue, key: string): JsonValue {
  const found = Array.isArray(parent) ? parent[Number(key)] : isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined
  if (found === undefined) throw new Error(`no such parent: ${key}`)
  return found
}

function unescape(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns a deep copy, in which `__proto__` is an ordinary key. */
function structuredCloneOwn(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
