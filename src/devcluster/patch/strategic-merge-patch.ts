/**
 * Strategic merge patch, for the built-in types: a merge patch that knows by which key the items of a list are the same,
 * with the directives `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…`.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from '../../api/json.ts'
import { listRule } from './merge-keys.ts'
import { PatchError } from './patch-error.ts'

const patchDirective = '$patch'
const retainKeysDirective = '$retainKeys'
const orderPrefix = '$setElementOrder/'
const deletePrefix = '$deleteFromPrimitiveList/'

/** The target with the patch merged in; neither is changed. Throws `PatchError`. */
export function strategicMergePatch(target: JsonObject, patch: JsonValue): JsonObject {
  if (!isObject(patch)) throw new PatchError('malformed', 'a strategic merge patch is an object')
  return mergeMaps(target, patch, '')
}

function mergeMaps(target: JsonObject, patch: JsonObject, parent: string): JsonObject {
  const directive = patch[patchDirective]
  if (directive === 'replace') return withoutDirectives(patch)
  if (directive === 'delete') return {}
  if (directive !== undefined && directive !== 'merge')
    throw new PatchError('malformed', `Unknown patch type found: ${JSON.stringify(directive)}`)
  const merged = retained(target, patch[retainKeysDirective])
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || isDirective(key)) continue
    if (value === null) delete merged[key]
    else setMerged(merged, key, mergeValues(getOwn(merged, key), value, parent, key))
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deletePrefix)) deletePrimitives(merged, key.slice(deletePrefix.length), value)
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(orderPrefix)) reorder(merged, target, parent, key.slice(orderPrefix.length), value)
  }
  return merged
}

function setMerged(merged: JsonObject, key: string, value: JsonValue | undefined): void {
  if (value === undefined) delete merged[key]
  else setOwn(merged, key, value)
}

function mergeValues(target: JsonValue | undefined, patch: JsonValue, parent: string, key: string): JsonValue | undefined {
  if (isObject(patch)) {
    if (patch[patchDirective] === 'delete') return undefined
    return mergeMaps(isObject(target) ? target : {}, patch, key)
  }
  if (!Array.isArray(patch)) return patch
  const rule = listRule(parent, key)
  if (rule === undefined) return patch.map(plain)
  const before = Array.isArray(target) ? target : []
  return rule.mergeKey === undefined ? mergeSets(before, patch) : mergeLists(before, patch, rule.mergeKey, key)
}

function mergeSets(before: readonly JsonValue[], patch: readonly JsonValue[]): JsonValue[] {
  return [...new Set([...before, ...patch])]
}

function mergeLists(before: readonly JsonValue[], patch: readonly JsonValue[], mergeKey: string, field: string): JsonValue[] {
  const items = patch.map((item) => {
    if (!isObject(item)) throw new PatchError('malformed', `the list ${field} holds objects, found ${JSON.stringify(item)}`)
    return item
  })
  if (items.some((item) => item[patchDirective] === 'replace' && item[mergeKey] === undefined)) {
    return items.filter((item) => item[patchDirective] !== 'replace').map(withoutDirectives)
  }
  const merged = [...before]
  for (const item of items) {
    const identity = item[mergeKey]
    if (identity === undefined)
      throw new PatchError('malformed', `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`)
    const index = merged.findIndex((candidate) => isObject(candidate) && jsonEqual(candidate[mergeKey], identity))
    const found = merged[index]
    if (item[patchDirective] === 'delete') {
      if (index >= 0) merged.splice(index, 1)
    } else if (isObject(found)) {
      merged[index] = mergeMaps(found, item, field)
    } else {
      merged.push(withoutDirectives(item))
    }
  }
  return merged
}

/** The target alone, or those of its fields that `$retainKeys` names. */
function retained(target: JsonObject, keys: JsonValue | undefined): JsonObject {
  if (keys === undefined) return { ...target }
  if (!Array.isArray(keys)) throw new PatchError('malformed', `${retainKeysDirective} is a list of names`)
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)))
}

function deletePrimitives(merged: JsonObject, field: string, values: JsonValue | undefined): void {
  const list = getOwn(merged, field)
  if (!Array.isArray(values)) throw new PatchError('malformed', `${deletePrefix}${field} is a list`)
  if (Array.isArray(list))
    setOwn(
      merged,
      field,
      list.filter((item) => !values.includes(item)),
    )
}

/** Puts a merged list into the patch's order; items that the order does not name keep their place relative to the others. */
function reorder(merged: JsonObject, target: JsonObject, parent: string, field: string, order: JsonValue | undefined): void {
  const list = getOwn(merged, field)
  if (!Array.isArray(order)) throw new PatchError('malformed', `${orderPrefix}${field} is a list`)
  if (!Array.isArray(list)) return
  const mergeKey = listRule(parent, field)?.mergeKey
  const identity = (item: JsonValue): JsonValue | undefined => (mergeKey !== undefined && isObject(item) ? item[mergeKey] : item)
  const wanted = order.map(identity)
  const original = getOwn(target, field)
  const before = (Array.isArray(original) ? original : []).map(identity)
  const place = (item: JsonValue, among: readonly (JsonValue | undefined)[]): number =>
    among.findIndex((other) => jsonEqual(other, identity(item)))
  const named = list.filter((item) => place(item, wanted) >= 0).sort((a, b) => place(a, wanted) - place(b, wanted))
  const others = list.filter((item) => place(item, wanted) < 0)
  const ordered: JsonValue[] = []
  for (const item of named) {
    const at = place(item, before)
    while (others.length > 0 && at >= 0 && place(others[0]!, before) < at) ordered.push(others.shift()!)
    ordered.push(item)
  }
  setOwn(merged, field, [...ordered, ...others])
}

/** A value that a patch brings in whole, without the directives below it. */
function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain)
  return isObject(value) ? withoutDirectives(value) : value
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || value === null || isDirective(key)) continue
    if (isObject(value) && value[patchDirective] === 'delete') continue
    const items = Array.isArray(value) ? value.filter((item) => !isObject(item) || item[patchDirective] !== 'delete') : value
    setOwn(result, key, plain(items))
  }
  return result
}

function isDirective(key: string): boolean {
  return key === patchDirective || key === retainKeysDirective || key.startsWith(orderPrefix) || key.startsWith(deletePrefix)
}
