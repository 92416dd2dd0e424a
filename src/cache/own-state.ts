/** `isOwnState`: whether only the write of this process distinguishes the state in a response from the state before. */
import type { DeepReadonly } from '../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from '../api/json.ts'
import type { JsonObject } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { JsonPatchOperation } from '../client/write-types.ts'

/** Fields of `metadata` that the API server changes with each write. */
const serverFields: ReadonlySet<string> = new Set(['resourceVersion', 'generation', 'managedFields'])

type ReadonlyObject = DeepReadonly<KubernetesObject>

/** The states of an object before a write, and the response to the write. */
export interface WrittenState {
  /** The content of the request: an object, a merge patch, a strategic merge patch or a JSON patch. */
  readonly content: unknown
  /** The state in the cache immediately before the request was sent; undefined when the cache did not have the object. */
  readonly before: ReadonlyObject | undefined
  /** The response, in the form in which the view stores it. */
  readonly after: ReadonlyObject
  /** The `managedFields` of the response. */
  readonly managedFields: ReadonlyObject['metadata']['managedFields'] | undefined
}

/**
 * Returns true when `after` differs from `before` only in fields that the request sets.
 *
 * A write that changes nothing succeeds, and its response is the stored object. If another client has changed the object since `before`, its
 * resourceVersion is that of the other client's write, and a reconcile that took it for its own would never see the change. The API server
 * does not tell whether a write has changed something, so the contents are compared. When in doubt, the function returns false: this costs
 * one more call of the reconcile.
 */
export function isOwnState({ content, before, after, managedFields = [] }: WrittenState): boolean {
  const { resourceVersion } = after.metadata
  const sent = Array.isArray(content) ? fieldsOf(content as readonly JsonPatchOperation[]) : content
  // The write would have failed with a conflict if another client had changed the object.
  const expected = isObject(sent) && isObject(sent['metadata']) ? sent['metadata']['resourceVersion'] : undefined
  if (typeof expected === 'string' && expected !== '') return resourceVersion !== expected
  if (before?.metadata.uid !== after.metadata.uid) return isNew(after, managedFields)
  if (before.metadata.resourceVersion === resourceVersion) return false
  return !hasOtherChange(before as unknown as JsonObject, after as unknown as JsonObject, sent, true)
}

/**
 * Returns true when an object has only been written by the request that has created it. The times have whole seconds, and the API server
 * sets that of `managedFields` a little earlier than `creationTimestamp`.
 */
function isNew({ metadata }: ReadonlyObject, managedFields: NonNullable<WrittenState['managedFields']>): boolean {
  const created = Date.parse(metadata.creationTimestamp)
  return managedFields.length <= 1 && managedFields.every(({ time }) => time === undefined || Math.abs(Date.parse(time) - created) <= 1_000)
}

/** Returns true when a field differs in `before` and `after` that is not in `sent`, or that `sent` has not changed. */
function hasOtherChange(before: JsonObject, after: JsonObject, sent: unknown, isRoot = false): boolean {
  if (!isObject(sent)) return !jsonEqual(before, after)
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, current, wanted] = [getOwn(before, key), getOwn(after, key), getOwn(sent, key)]
    if (old === current) continue
    if (isRoot && key === 'metadata') {
      if (hasOtherChange(withoutServerFields(old), withoutServerFields(current), wanted)) return true
    } else if (isObject(current) && isObject(wanted) && (old === undefined || isObject(old))) {
      if (hasOtherChange(old ?? {}, current, wanted)) return true
    } else if (!jsonEqual(old, current) && !isChangedBy(old, current, wanted)) return true
  }
  return false
}

function withoutServerFields(metadata: unknown): JsonObject {
  return Object.fromEntries(Object.entries(metadata as JsonObject).filter(([key]) => !serverFields.has(key)))
}

/** Returns true when `wanted`, a scalar or a list of the request, has changed the field `old` to `current`. */
function isChangedBy(old: unknown, current: unknown, wanted: unknown): boolean {
  if (wanted === undefined || jsonEqual(old, wanted)) return false
  if (wanted === null) return current === undefined
  return jsonEqual(current, wanted) || !contains(old, wanted)
}

/** Returns true when a value already contains all fields and list items of `wanted`, so that applying `wanted` changes nothing. */
function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) &&
      wanted.every((item, index) => contains(value[index], item) || value.some((other: unknown) => contains(other, item)))
    )
  }
  if (!isObject(wanted)) return jsonEqual(value, wanted)
  return isObject(value) && Object.keys(wanted).every((key) => wanted[key] === undefined || contains(value[key], wanted[key]))
}

/** Returns the fields that a JSON patch sets. A removed field is null, as in a merge patch. */
function fieldsOf(operations: readonly JsonPatchOperation[]): unknown {
  const fields: JsonObject = {}
  for (const operation of operations) {
    if (operation.op === 'test') continue
    if (operation.op === 'move') setField(fields, operation.from, null)
    setField(fields, operation.path, 'value' in operation ? operation.value : operation.op === 'remove' ? null : {})
  }
  return fields
}

function setField(fields: JsonObject, pointer: string, value: unknown): void {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = keys.pop()
  if (last === undefined) return
  let parent = fields
  for (const key of keys) {
    const child = getOwn(parent, key)
    const next = isObject(child) ? child : {}
    if (next !== child) setOwn(parent, key, next)
    parent = next
  }
  setOwn(parent, last, value as never)
}
