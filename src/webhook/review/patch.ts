/**
 * Computes a short JSON patch (RFC 6902) from one JSON value to another.
 *
 * Subtrees with the same reference are skipped. Values that a handler did not change therefore take no time, and are never in the patch.
 * For this reason, the stored object keeps unknown fields and numbers that are too large for JavaScript exactly as the user sent them.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, stringifyJson } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { ItemNumbers } from './item-numbers.ts'

export type PatchOperation =
  { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue } | { readonly op: 'remove'; readonly path: string }

type Value = JsonValue | undefined
type Schema = StructuralSchema | undefined

/** The state of one call of `createPatch`. */
interface Work {
  readonly operations: PatchOperation[]
  readonly numbers: ItemNumbers
  /** The number of pairs of items that may still be compared: the rest of `maxPairs`. */
  pairsLeft: number
}

/**
 * Maximum number of pairs of items that one call of `createPatch` compares. These comparisons take some milliseconds. Without a limit, the
 * time would be quadratic in the length of a list.
 */
const maxPairs = 250_000

/**
 * Returns the operations that change `raw` into `target`. A key whose value is undefined counts as absent. Items of a list are matched by
 * the `x-kubernetes-list-map-keys` of the schema, or by `name`. For long lists with many changes, the patch is correct, but not minimal
 * (see `maxPairs`).
 */
export function createPatch(raw: JsonValue, target: JsonValue, schema?: StructuralSchema): PatchOperation[] {
  const work: Work = { operations: [], numbers: new ItemNumbers(), pairsLeft: maxPairs }
  compare(raw, target, '', schema, work)
  return work.operations
}

/** The key by which items are matched when the schema declares no list map keys. */
const nameAlone: readonly string[] = ['name']

/** Escapes a key for use as a segment of a JSON pointer. */
function escapePointer(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
}

function compare(raw: JsonValue, target: JsonValue, path: string, schema: Schema, work: Work): void {
  if (raw === target) return
  if (Array.isArray(raw) && Array.isArray(target)) compareArrays(raw, target, path, schema, work)
  else if (isObject(raw) && isObject(target)) compareObjects(raw, target, path, schema, work)
  else work.operations.push({ op: 'replace', path, value: target })
}

function compareObjects(raw: JsonObject, target: JsonObject, path: string, schema: Schema, work: Work): void {
  for (const key of Object.keys(raw)) {
    if (raw[key] !== undefined && getOwn(target, key) === undefined)
      work.operations.push({ op: 'remove', path: `${path}/${escapePointer(key)}` })
  }
  for (const key of Object.keys(target)) {
    const after: Value = target[key]
    if (after === undefined) continue
    const before = getOwn(raw, key)
    if (before === after) continue
    const below = `${path}/${escapePointer(key)}`
    if (before === undefined) work.operations.push({ op: 'add', path: below, value: after })
    else compare(before, after, below, schemaBelow(schema, key), work)
  }
}

function schemaBelow(schema: Schema, key: string): Schema {
  if (schema === undefined) return undefined
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key]
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

/**
 * Adds the operations that change the list `raw` into `target`. First, the items of both lists are matched:
 *
 * - If the items have unique keys, they are matched by their keys. The other fields of matched items are compared.
 * - Otherwise, equal items are matched.
 *
 * Items without a match are added, removed or changed. If an item was inserted at the front, all other items match, so the patch has only
 * one operation.
 */
function compareArrays(raw: JsonValue[], target: JsonValue[], path: string, schema: Schema, work: Work): void {
  if (staysInPlace(raw, target, schema)) {
    for (let index = 0; index < raw.length; index += 1) {
      if (raw[index] !== target[index]) compare(raw[index]!, target[index]!, `${path}/${index}`, schema?.items, work)
    }
    return
  }
  const out = work.operations
  const keys = itemKeys(raw, target, schema)
  const pairs = matchItems(keys?.raw ?? raw, keys?.target ?? target, work)
  if (pairs.length === 0 && raw.length > 0 && target.length > 0 && (keys !== undefined || raw.length !== target.length)) {
    out.push({ op: 'replace', path, value: target })
    return
  }
  let from = 0
  let at = 0
  // The length of the list after the operations so far. If an item is added at the index `length`, the item is appended, and the path ends
  // with `-`.
  let length = raw.length
  for (const [rawIndex, targetIndex] of [...pairs, [raw.length, target.length] as const]) {
    for (; from < rawIndex && at < targetIndex; from += 1, at += 1) {
      const after = target[at]!
      if (keys === undefined) compare(raw[from]!, after, `${path}/${at}`, schema?.items, work)
      else out.push({ op: 'replace', path: `${path}/${at}`, value: after })
    }
    for (; from < rawIndex; from += 1, length -= 1) out.push({ op: 'remove', path: `${path}/${at}` })
    for (; at < targetIndex; at += 1, length += 1) out.push({ op: 'add', path: `${path}/${at === length ? '-' : at}`, value: target[at]! })
    if (rawIndex < raw.length) {
      // If `keys` is undefined, the two items of a pair are equal, so they need no comparison.
      if (keys !== undefined) compare(raw[rawIndex]!, target[targetIndex]!, `${path}/${at}`, schema?.items, work)
      from += 1
      at += 1
    }
  }
}

/**
 * Returns true when both lists have the same length, and the items at each index match. Two items match if they are identical (`===`), or
 * if they are objects with the same values of the map keys. The map keys are the fields in `x-kubernetes-list-map-keys`. Default: `name`.
 *
 * Defaulting usually does not move items, so most lists pass this check.
 */
function staysInPlace(raw: JsonValue[], target: JsonValue[], schema: Schema): boolean {
  if (raw.length !== target.length) return false
  const names = schema?.['x-kubernetes-list-map-keys'] ?? nameAlone
  for (let index = 0; index < raw.length; index += 1) {
    const before = raw[index]
    const after = target[index]
    if (before === after) continue
    if (!isObject(before) || !isObject(after) || !haveSame(names, before, after)) return false
  }
  return true
}

/** Returns true when each key has the same value in both items or is absent from both items, and at least one key is present. */
function haveSame(names: readonly string[], before: JsonObject, after: JsonObject): boolean {
  let same = false
  for (const name of names) {
    const value = getOwn(before, name)
    if (value !== getOwn(after, name)) return false
    same ||= value !== undefined
  }
  return same
}

interface ItemKeys {
  readonly raw: readonly string[]
  readonly target: readonly string[]
}

/**
 * Returns the keys of the items of both lists. Returns undefined if an item is not an object, if an item has no keys, if a key is a list or
 * an object, or if two items of one list have the same keys.
 */
function itemKeys(raw: JsonValue[], target: JsonValue[], schema: Schema): ItemKeys | undefined {
  const names = schema?.['x-kubernetes-list-map-keys'] ?? nameAlone
  const rawKeys = keysOf(raw, names)
  const targetKeys = rawKeys && keysOf(target, names)
  return rawKeys && targetKeys && { raw: rawKeys, target: targetKeys }
}

function keysOf(items: JsonValue[], names: readonly string[]): string[] | undefined {
  const keys: string[] = []
  for (const item of items) {
    if (!isObject(item)) return undefined
    const values = names.map((name) => getOwn(item, name))
    // If an item has none of the key fields, or the value of a key field is null, a list or an object, the items are matched by equality
    // instead of by their keys.
    if (values.every((value) => value === undefined) || values.some((value) => typeof value === 'object')) return undefined
    keys.push(stringifyJson(values.map((value) => value ?? null)))
  }
  return new Set(keys).size === keys.length ? keys : undefined
}

/**
 * Returns the pairs of indexes of matching items, in ascending order. Equal items at the beginning and at the end of both lists match. Of
 * the items in between, the longest common subsequence matches. If too many pairs would have to be compared, no item in between matches.
 */
function matchItems(raw: readonly JsonValue[], target: readonly JsonValue[], work: Work): (readonly [number, number])[] {
  const { numbers } = work
  const same = (i: number, j: number): boolean =>
    raw[i] === target[j] || (!differsAtOnce(raw[i]!, target[j]!) && numbers.of(raw[i]!) === numbers.of(target[j]!))
  const pairs: (readonly [number, number])[] = []
  let start = 0
  while (start < raw.length && start < target.length && same(start, start)) {
    pairs.push([start, start])
    start += 1
  }
  let rawEnd = raw.length
  let targetEnd = target.length
  while (rawEnd > start && targetEnd > start && same(rawEnd - 1, targetEnd - 1)) {
    rawEnd -= 1
    targetEnd -= 1
  }
  const count = (rawEnd - start) * (targetEnd - start)
  // If `count` is 1, each list has one unmatched item, and the loops above have already found that these two items differ. No further
  // comparison is then necessary.
  if (count > 1 && count <= work.pairsLeft) {
    work.pairsLeft -= count
    const common = longestCommon(
      raw.slice(start, rawEnd).map((item) => numbers.of(item)),
      target.slice(start, targetEnd).map((item) => numbers.of(item)),
    )
    for (const [i, j] of common) pairs.push([start + i, start + j])
  }
  for (let offset = 0; rawEnd + offset < raw.length; offset += 1) pairs.push([rawEnd + offset, targetEnd + offset])
  return pairs
}

/**
 * Returns true when `after` has a field that `before` lacks. The check detects most pairs of items that differ. The check is fast, because
 * it does not compare the values of fields. If the result is false, the items may still differ.
 */
function differsAtOnce(before: JsonValue, after: JsonValue): boolean {
  if (!isObject(before) || !isObject(after)) return false
  for (const key of Object.keys(after)) if (getOwn(before, key) === undefined && after[key] !== undefined) return true
  return false
}

function longestCommon(raw: readonly number[], target: readonly number[]): (readonly [number, number])[] {
  const width = target.length + 1
  const lengths = new Uint32Array((raw.length + 1) * width)
  for (let i = raw.length - 1; i >= 0; i -= 1) {
    for (let j = target.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        raw[i] === target[j] ? lengths[(i + 1) * width + j + 1]! + 1 : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const pairs: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < raw.length && j < target.length;) {
    if (raw[i] === target[j]) pairs.push([i++, j++])
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1
    else j += 1
  }
  return pairs
}
