/**
 * Strategic merge patch for built-in types: merges lists by key, and supports the directives `$patch`, `$retainKeys`, `$setElementOrder/…`
 * and `$deleteFromPrimitiveList/…`. Results and errors are those of k8s.io/apimachinery/pkg/util/strategicpatch.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, setOwn } from '../../api/json.ts'
import { goText, goTypeName } from '../types/go-text.ts'
import type { GoField, GoType } from '../types/go-types.ts'
import { deleteItems, inOrder, mergeKeyOf, partition, uniqueScalars } from './patched-list.ts'
import { PatchError } from './patch-error.ts'

const patchDirective = '$patch'
const retainKeysDirective = '$retainKeys'
const orderPrefix = '$setElementOrder'
const deletePrefix = '$deleteFromPrimitiveList'

/**
 * Returns the target with the patch merged in, according to the merge rules of the Go type. Neither argument is changed. Throws
 * `PatchError`.
 */
export function strategicMergePatch(target: JsonObject, patch: JsonValue, type: GoType): JsonObject {
  if (!isObject(patch)) throw new PatchError('malformed', 'a strategic merge patch must be an object')
  return mergeMaps(target, patch, type)
}

function mergeMaps(target: JsonObject, patch: JsonObject, type: GoType): JsonObject {
  const directive = patch[patchDirective]
  if (directive !== undefined) {
    const { [patchDirective]: _directive, ...replacement } = patch
    if (directive === 'replace') return replacement
    if (directive === 'delete') return {}
    throw unknownDirective(directive, patch)
  }
  const [merged, rest] = [retained(target, patch), { ...patch }]
  delete rest[retainKeysDirective]
  mergeOrderedLists(merged, rest, type)
  for (const [written, value] of Object.entries(rest)) {
    const deletes = written.startsWith(deletePrefix)
    const key = deletes ? fieldOf(written, deletePrefix, 'primitive list') : written
    if (value === undefined || value === null) {
      delete merged[key]
      continue
    }
    const before = getOwn(merged, key)
    if (isObject(value) && isObject(before)) {
      const field = lookup(type, key)
      setOwn(merged, key, field.strategy === 'replace' ? value : mergeMaps(before, value, field.type))
    } else if (Array.isArray(value) && Array.isArray(before)) {
      setOwn(merged, key, mergeLists(before, value, lookup(type, key), deletes))
    } else if (!deletes) {
      const kept = withoutDirectives(value)
      if (kept === undefined) delete merged[key]
      else setOwn(merged, key, kept)
    }
  }
  return merged
}

/** Returns a copy of the target. If the patch has `$retainKeys`, the copy has only the fields that `$retainKeys` lists. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[retainKeysDirective]
  if (keys === undefined) return { ...target }
  const wrong = new PatchError('malformed', 'invalid patch format of retainKeys')
  if (!Array.isArray(keys)) throw wrong
  for (const [key, value] of Object.entries(patch)) {
    if (key === retainKeysDirective || value === null || key.startsWith(orderPrefix) || key.startsWith(deletePrefix)) continue
    if (!keys.includes(key)) throw wrong
  }
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)))
}

/**
 * Merges the lists for which the patch has a `$setElementOrder` directive, and sets the merged lists in `merged`. `rest` has the fields of
 * the patch that are not merged yet. The function removes the merged lists and all `$setElementOrder` directives from `rest`.
 */
function mergeOrderedLists(merged: JsonObject, rest: JsonObject, type: GoType): void {
  for (const [written, order] of Object.entries(rest)) {
    if (!written.startsWith(orderPrefix)) continue
    delete rest[written]
    if (!Array.isArray(order)) throw wrongArgument('[]interface {}', order ?? null)
    const key = fieldOf(written, orderPrefix, 'setElementOrder list')
    const [before, patch] = [listAt(merged, key), listAt(rest, key)]
    const field = lookup(type, key)
    checkOrder(patch ?? [], order, field.mergeKey)
    if (before === undefined && patch === undefined) continue
    const list =
      patch === undefined
        ? before!
        : before === undefined
          ? (withoutDirectives([...patch]) as JsonValue[])
          : mergeLists(before, patch, field, false)
    setOwn(merged, key, inOrder(...partition(list, order, field.mergeKey), order, before ?? [], field.mergeKey))
    delete rest[key]
  }
}

function listAt(holder: JsonObject, key: string): readonly JsonValue[] | undefined {
  const list = getOwn(holder, key)
  if (list !== undefined && !Array.isArray(list)) throw wrongArgument('[]interface {}', list)
  return list
}

/**
 * Throws if an item of the patch is missing in the `$setElementOrder` list `order`, or if the order of the items differs. Items with a
 * `$patch` directive are not checked.
 */
function checkOrder(patch: readonly JsonValue[], order: readonly JsonValue[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return
  const items = patch.filter((item) => !(isObject(item) && Object.hasOwn(item, patchDirective)))
  let at = 0
  for (const wanted of order) {
    if (at < items.length && mergeKeyOf(items[at]!, mergeKey) === mergeKeyOf(wanted, mergeKey)) at += 1
  }
  if (at === items.length) return
  throw new PatchError(
    'internal',
    `The order in patch list:\n${goText([...patch])}\n doesn't match ${orderPrefix} list:\n${goText([...order])}\n`,
  )
}

function mergeLists(before: readonly JsonValue[], patch: readonly JsonValue[], field: GoField, deletes: boolean): JsonValue[] {
  if (field.strategy !== 'merge' && !deletes) return [...patch]
  if (before.length === 0 && patch.length === 0) return []
  const { mergeKey, type } = field
  if (!areMaps(before, patch)) {
    if (deletes) return before.filter((item) => !patch.includes(item))
    return inOrder(...partition(uniqueScalars([...before, ...patch]), patch, mergeKey), patch, before, mergeKey)
  }
  if (mergeKey === '') throw new PatchError('internal', 'cannot merge lists without merge key for struct')
  const { kept, items } = processDirectives(before, patch as readonly JsonObject[], mergeKey)
  const item = type.kind === 'list' ? type.item : type
  const merged: JsonValue[] = [...kept]
  for (const given of items) {
    const identity = mergeKeyOf(given, mergeKey)
    const index = merged.findIndex((other) => isObject(other) && other[mergeKey] === identity)
    if (index < 0) merged.push(given)
    else merged[index] = mergeMaps(merged[index] as JsonObject, given, item)
  }
  return inOrder(...partition(merged, items, mergeKey), items, kept, mergeKey)
}

/**
 * Processes the `$patch` directives in list items. Returns the old items that remain, and the items of the patch that have no directive.
 */
function processDirectives(
  before: readonly JsonValue[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { readonly kept: readonly JsonValue[]; readonly items: readonly JsonObject[] } {
  const items: JsonObject[] = []
  let kept = before
  for (const item of patch) {
    const directive = item[patchDirective]
    if (directive === undefined) items.push(item)
    else if (directive === 'delete') kept = deleteItems(kept, mergeKey, mergeKeyOf(item, mergeKey))
    else if (directive === 'merge') throw new PatchError('internal', 'merging lists cannot yet be specified in the patch')
    else if (directive !== 'replace') throw unknownDirective(directive, item)
  }
  return { kept: patch.some((item) => item[patchDirective] === 'replace') ? [] : kept, items }
}

/** True when all items of both lists are JSON objects. Throws when the items have different types. */
function areMaps(before: readonly JsonValue[], patch: readonly JsonValue[]): boolean {
  const [first, ...others] = [...before, ...patch].map(goTypeName)
  if (others.some((type) => type !== first))
    throw new PatchError('internal', `list element types are not identical: ${goText([[...before], [...patch]])}`)
  return first === 'map[string]interface {}'
}

function lookup(type: GoType, key: string): GoField {
  if (type.kind !== 'struct')
    throw new PatchError('internal', `merging an object in json but data type is not struct, instead is: ${type.kind}`)
  const field = type.fields.get(key)
  if (field === undefined)
    throw new PatchError('internal', `unable to find api field in struct ${type.name} for the json field ${JSON.stringify(key)}`)
  return field
}

/** Returns the name of the field to which a directive refers, e.g. `containers` for `$setElementOrder/containers`. */
function fieldOf(written: string, prefix: string, what: string): string {
  if (!written.startsWith(`${prefix}/`)) throw new PatchError('malformed', `invalid patch format of ${what}`)
  return written.slice(prefix.length + 1)
}

/**
 * Returns a copy of a value that the patch adds. The copy contains no null fields, and no objects that have a `$patch` directive. If the
 * value itself has a `$patch` directive, returns undefined.
 */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, patchDirective)) return undefined
  const kept: JsonObject = {}
  for (const [key, field] of Object.entries(value)) {
    const next = field === undefined || field === null ? undefined : withoutDirectives(field)
    if (next !== undefined) setOwn(kept, key, next)
  }
  return kept
}

function unknownDirective(directive: JsonValue, patch: JsonObject): PatchError {
  return new PatchError('internal', `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`)
}

function wrongArgument(expected: string, found: JsonValue): PatchError {
  return new PatchError('internal', `expected a ${expected}, but received a ${goTypeName(found)}`)
}
