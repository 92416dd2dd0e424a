/** The inverse of `createPatch`: what a handler has made of an object on the main thread is made of it in a worker thread, too. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import type { PatchOperation } from '../patch.ts'

type Container = JsonValue[] | JsonObject

/**
 * The object with the operations of `createPatch` applied. It shares with the one that is given whatever is not changed.
 *
 * @throws {TypeError} when there is nothing at a path.
 */
export function applyPatch(object: JsonObject, operations: readonly PatchOperation[]): JsonObject {
  const copies = new Set<Container>()
  const copyOf = <T extends Container>(container: T): T => {
    if (copies.has(container)) return container
    const copy = (Array.isArray(container) ? [...container] : { ...container }) as T
    copies.add(copy)
    return copy
  }
  const root = copyOf(object)
  for (const operation of operations) {
    const keys = operation.path.split('/').slice(1).map(unescapePointer)
    const last = keys.pop()
    if (last === undefined) throw nothingAt(operation)
    let parent: Container = root
    for (const key of keys) {
      const child: JsonValue | undefined = Array.isArray(parent) ? parent[Number(key)] : getOwn(parent, key)
      if (!Array.isArray(child) && !isObject(child)) throw nothingAt(operation)
      const copy: Container = copyOf(child)
      if (Array.isArray(parent)) parent[Number(key)] = copy
      else setOwn(parent, key, copy)
      parent = copy
    }
    if (Array.isArray(parent)) changeItem(parent, last === '-' ? parent.length : Number(last), operation)
    else if (operation.op === 'remove') delete parent[last]
    else setOwn(parent, last, operation.value)
  }
  return root
}

function changeItem(list: JsonValue[], index: number, operation: PatchOperation): void {
  if (operation.op === 'add') list.splice(index, 0, operation.value)
  else if (operation.op === 'remove') list.splice(index, 1)
  else list[index] = operation.value
}

function unescapePointer(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment
}

function nothingAt({ path }: PatchOperation): TypeError {
  return new TypeError(`there is nothing at ${path}`)
}
