/**
 * `isOwnState`: detects changes of other clients. After a write request of this process, the function compares the object before the
 * request with the object in the response.
 */
import type { DeepReadonly } from '../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn } from '../api/json.ts'
import type { JsonObject } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { JsonPatchOperation } from '../client/write-types.ts'

/** Fields of `metadata` that the API server can change with each write. */
const serverFields: ReadonlySet<string> = new Set(['resourceVersion', 'generation', 'managedFields'])

type ReadonlyObject = DeepReadonly<KubernetesObject>

/** A write request, its response, and the state of the object before the request. */
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
 * Returns true only if the states show two facts: the request has changed the object, and `after` differs from `before` only in fields that
 * the request sets. In case of doubt, returns false, which causes at most one unnecessary reconcile.
 *
 * The success of the request does not prove that the request has changed the object. A request that changes nothing also succeeds, and its
 * response is the stored object. The stored object can contain a change that another client has made after `before`. If the function
 * returned true for such a response, no reconcile would be called for the change of the other client.
 */
export function isOwnState({ content, before, after, managedFields = [] }: WrittenState): boolean {
  const { resourceVersion } = after.metadata
  const sent = Array.isArray(content) ? fieldsOf(content as readonly JsonPatchOperation[]) : content
  // If a request with a resourceVersion succeeds, no other client has changed the object between this resourceVersion and the write. After
  // such a change, the API server would have rejected the request with a conflict.
  const expected = isObject(sent) && isObject(sent['metadata']) ? sent['metadata']['resourceVersion'] : undefined
  if (typeof expected === 'string' && expected !== '') return resourceVersion !== expected
  if (before?.metadata.uid !== after.metadata.uid) return isNew(after, managedFields)
  if (before.metadata.resourceVersion === resourceVersion) return false
  return !hasOtherChange(before as unknown as JsonObject, after as unknown as JsonObject, sent, true)
}

/**
 * Returns true when `managedFields` shows no write after the creation of an object. The time in `managedFields` can be one second earlier
 * than `creationTimestamp`. The reason is that both times are in whole seconds, and that the API server sets the time in `managedFields` a
 * little earlier.
 */
function isNew({ metadata }: ReadonlyObject, managedFields: NonNullable<WrittenState['managedFields']>): boolean {
  const created = Date.parse(metadata.creationTimestamp)
  return managedFields.length <= 1 && managedFields.every(({ time }) => time === undefined || Math.abs(Date.parse(time) - created) <= 1_000)
}

/**
 * Returns true when `before` and `after` differ in a field that the request does not contain. `sent` contains the fields of the request.
 */
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

/**
 * Returns true if it is possible that the request has changed a field from `old` to `current`. `wanted` is the value in the request;
 * undefined when the request does not contain the field.
 */
function isChangedBy(old: unknown, current: unknown, wanted: unknown): boolean {
  if (wanted === undefined || jsonEqual(old, wanted)) return false
  // If `current` is a list and `wanted` is an object, the request is a JSON patch. Either the patch changes single items of the list, or
  // the list is the result of a `copy` or `move` operation. In both cases, `wanted` does not contain the whole list. Another client may
  // have changed the part of the list that `wanted` does not contain. Therefore, the function returns false.
  if (Array.isArray(current) && isObject(wanted)) return false
  if (wanted === null) return current === undefined
  return jsonEqual(current, wanted) || !contains(old, wanted)
}

/** Returns true when a value already contains all fields and list items of `wanted`. In this case, applying `wanted` changes nothing. */
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

/**
 * Returns the fields that a JSON patch sets. A removed field is null, as in a merge patch. The target field of a copy or move is an empty
 * object, because the patch does not contain the value.
 */
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
