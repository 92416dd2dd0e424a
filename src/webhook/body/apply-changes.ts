/** What a handler has changed, applied to the same object in another thread. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { PatchOperation } from '../patch.ts'

/** Applies the operations of `createPatch`, in place: no part of the object may be anybody else's, or stand in it twice. */
export function applyChanges(object: JsonObject, operations: readonly PatchOperation[]): void {
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1).map(unescapePointer)
    const last = keys.pop()
    let parent: JsonValue | undefined = object
    for (const key of keys) parent = Array.isArray(parent) ? parent[Number(key)] : isObject(parent) ? getOwn(parent, key) : undefined
    if (last === undefined || !(Array.isArray(parent) || isObject(parent))) throw new TypeError(`there is nothing at ${operation.path}`)
    if (Array.isArray(parent)) changeItem(parent, last === '-' ? parent.length : Number(last), operation)
    else if (operation.op === 'remove') delete parent[last]
    else setOwn(parent, last, operation.value)
  }
}

function changeItem(list: JsonValue[], index: number, operation: PatchOperation): void {
  if (operation.op === 'add') list.splice(index, 0, operation.value)
  else if (operation.op === 'remove') list.splice(index, 1)
  else list[index] = operation.value
}

function unescapePointer(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment
}
