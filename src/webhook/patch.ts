/**
 * The smallest RFC 6902 patch between two JSON values.
 *
 * Subtrees that are the same reference are skipped, so what a copy-on-write change did not touch costs nothing and is never written again:
 * a number too large for JavaScript, or a field that nobody here knows, stays as the user sent it.
 */
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, isObject, jsonEqual } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'

export type PatchOperation =
  { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue } | { readonly op: 'remove'; readonly path: string }

type Value = JsonValue | undefined

/**
 * What turns `raw` into `target`. A key whose value is undefined counts as absent.
 * The schema, where there is one, says by which keys the items of a list are known.
 */
export function createPatch(raw: JsonValue, target: JsonValue, schema?: StructuralSchema): PatchOperation[] {
  const operations: PatchOperation[] = []
  compare(raw, target, '', schema, operations)
  return operations
}

/** What items are known by where the schema does not say. */
const nameAlone: readonly string[] = ['name']

/** A key as a segment of a JSON pointer. */
function escapePointer(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
}

function compare(raw: JsonValue, target: JsonValue, path: string, schema: StructuralSchema | undefined, out: PatchOperation[]): void {
  if (raw === target) return
  if (Array.isArray(raw) && Array.isArray(target)) compareArrays(raw, target, path, schema, out)
  else if (isObject(raw) && isObject(target)) compareObjects(raw, target, path, schema, out)
  else out.push({ op: 'replace', path, value: target })
}

function compareObjects(
  raw: JsonObject,
  target: JsonObject,
  path: string,
  schema: StructuralSchema | undefined,
  out: PatchOperation[],
): void {
  for (const key of Object.keys(raw)) {
    if (raw[key] !== undefined && getOwn(target, key) === undefined) out.push({ op: 'remove', path: `${path}/${escapePointer(key)}` })
  }
  for (const key of Object.keys(target)) {
    const after: Value = target[key]
    if (after === undefined) continue
    const before = getOwn(raw, key)
    if (before === after) continue
    const below = `${path}/${escapePointer(key)}`
    if (before === undefined) out.push({ op: 'add', path: below, value: after })
    else compare(before, after, below, schemaBelow(schema, key), out)
  }
}

function schemaBelow(schema: StructuralSchema | undefined, key: string): StructuralSchema | undefined {
  if (schema === undefined) return undefined
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key]
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

/**
 * Items that stayed are found first (by their keys, or by being equal); what lies between them was inserted, removed or changed.
 * So an item inserted at the front is one operation, and not a replacement of every item behind it.
 */
function compareArrays(
  raw: JsonValue[],
  target: JsonValue[],
  path: string,
  schema: StructuralSchema | undefined,
  out: PatchOperation[],
): void {
  if (staysInPlace(raw, target, schema)) {
    for (let index = 0; index < raw.length; index += 1) {
      if (raw[index] !== target[index]) compare(raw[index]!, target[index]!, `${path}/${index}`, schema?.items, out)
    }
    return
  }
  const keys = itemKeys(raw, target, schema)
  const pairs = matchItems(raw, target, keys)
  if (pairs.length === 0 && raw.length > 0 && target.length > 0 && (keys !== undefined || raw.length !== target.length)) {
    out.push({ op: 'replace', path, value: target })
    return
  }
  let from = 0
  let at = 0
  // The length that the array has while the patch is applied: an index equal to it is its end.
  let length = raw.length
  for (const [rawIndex, targetIndex] of [...pairs, [raw.length, target.length] as const]) {
    for (; from < rawIndex && at < targetIndex; from += 1, at += 1) {
      const after = target[at]!
      if (keys === undefined) compare(raw[from]!, after, `${path}/${at}`, schema?.items, out)
      else out.push({ op: 'replace', path: `${path}/${at}`, value: after })
    }
    for (; from < rawIndex; from += 1, length -= 1) out.push({ op: 'remove', path: `${path}/${at}` })
    for (; at < targetIndex; at += 1, length += 1) out.push({ op: 'add', path: `${path}/${at === length ? '-' : at}`, value: target[at]! })
    if (rawIndex < raw.length) {
      compare(raw[rawIndex]!, target[targetIndex]!, `${path}/${at}`, schema?.items, out)
      from += 1
      at += 1
    }
  }
}

/** Whether each item is still where it was, as after defaulting: the same one, or one with the same keys. */
function staysInPlace(raw: JsonValue[], target: JsonValue[], schema: StructuralSchema | undefined): boolean {
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

/** Whether both say the same about one of the keys, and about none something else. */
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

/** What each item is known by, when all of them are objects with distinct keys on both sides. */
function itemKeys(raw: JsonValue[], target: JsonValue[], schema: StructuralSchema | undefined): ItemKeys | undefined {
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
    if (values.every((value) => value === undefined)) return undefined
    keys.push(canonicalJson(values.map((value) => value ?? null)))
  }
  return new Set(keys).size === keys.length ? keys : undefined
}

/** Beyond this many comparisons, items between the equal ends are compared by position: still right, only longer. */
const maxComparisons = 250_000

/** Pairs of indexes of items that stayed, in order: the longest common subsequence, after equal ends are cut off. */
function matchItems(raw: JsonValue[], target: JsonValue[], keys: ItemKeys | undefined): (readonly [number, number])[] {
  const same = (i: number, j: number): boolean => (keys === undefined ? jsonEqual(raw[i], target[j]) : keys.raw[i] === keys.target[j])
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
  const rows = rawEnd - start
  const columns = targetEnd - start
  if (rows > 0 && columns > 0 && rows * columns <= maxComparisons) {
    pairs.push(...longestCommon(rows, columns, (i, j) => same(start + i, start + j)).map(([i, j]) => [start + i, start + j] as const))
  }
  for (let offset = 0; rawEnd + offset < raw.length; offset += 1) pairs.push([rawEnd + offset, targetEnd + offset])
  return pairs
}

function longestCommon(rows: number, columns: number, same: (i: number, j: number) => boolean): (readonly [number, number])[] {
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  const matches = new Uint8Array(rows * columns)
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const match = same(i, j)
      if (match) matches[i * columns + j] = 1
      lengths[i * width + j] = match
        ? lengths[(i + 1) * width + j + 1]! + 1
        : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const pairs: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (matches[i * columns + j] === 1) pairs.push([i++, j++])
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1
    else j += 1
  }
  return pairs
}
