/** The metadata that the server itself keeps: what a create sets, what an update may not touch. */
import { formatTime } from '../../api/conditions.ts'
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, quote } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual } from '../../api/json.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'

export function metadataOf(object: JsonObject): JsonObject {
  return isObject(object.metadata) ? object.metadata : {}
}

/** A string of the metadata, empty when it is not there. */
export function metadataText(object: JsonObject, field: string): string {
  const value = metadataOf(object)[field]
  return typeof value === 'string' ? value : ''
}

export function finalizersOf(object: JsonObject): readonly string[] {
  const { finalizers } = metadataOf(object)
  return Array.isArray(finalizers) ? finalizers.filter((finalizer) => typeof finalizer === 'string') : []
}

/** The object with some fields changed; undefined removes a field. */
export function withFields(object: JsonObject, changes: JsonObject): JsonObject {
  const changed: JsonObject = { ...object, ...changes }
  for (const [key, value] of Object.entries(changes)) if (value === undefined) delete changed[key]
  return changed
}

/** The object with some of its metadata changed; undefined removes a field. */
export function withMetadata(object: JsonObject, changes: JsonObject): JsonObject {
  return { ...object, metadata: withFields(metadataOf(object), changes) }
}

/** Whether `metadata.generation` counts the changes of this type's desired state. */
export function countsGeneration(info: ResourceInfo): boolean {
  return info.strategy.generation ?? info.custom
}

/** A new object's metadata, without the name that `generateName` gives. */
export function startMetadata(
  info: ResourceInfo,
  object: JsonObject,
  at: { namespace: string | undefined; uid: string; now: number },
): JsonObject {
  return withMetadata(object, {
    namespace: info.namespaced ? at.namespace : undefined,
    uid: at.uid,
    creationTimestamp: formatTime(at.now),
    generation: countsGeneration(info) ? 1 : undefined,
    resourceVersion: undefined,
    selfLink: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  })
}

/** An updated object's metadata: what the writer left out, and what is not the writer's, comes from the old object. */
export function carryMetadata(object: JsonObject, old: JsonObject): JsonObject {
  const [now, before] = [metadataOf(object), metadataOf(old)]
  const kept = (field: string): JsonValue | undefined => (isGiven(now[field]) ? now[field] : before[field])
  return withMetadata(object, {
    namespace: before.namespace,
    uid: kept('uid'),
    resourceVersion: before.resourceVersion,
    generation: before.generation,
    creationTimestamp: kept('creationTimestamp'),
    deletionTimestamp: kept('deletionTimestamp'),
    deletionGracePeriodSeconds: kept('deletionGracePeriodSeconds'),
    selfLink: undefined,
  })
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** What an update of the metadata may not do. */
export function validateMetadataUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const [now, before] = [metadataOf(object), metadataOf(old)]
  const errors: FieldError[] = []
  const immutable = (field: string, detail = 'field is immutable'): void => {
    if (!jsonEqual(now[field], before[field])) errors.push(invalid(`metadata.${field}`, now[field] ?? '', detail))
  }
  if (isGiven(before.deletionTimestamp)) {
    const known = finalizersOf(old)
    const added = finalizersOf(object).filter((finalizer) => !known.includes(finalizer))
    if (added.length > 0) {
      const list = added.map(quote).join(', ')
      errors.push(
        forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
        ),
      )
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp']) immutable(field)
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds'])
    immutable(field, 'field is immutable; may only be changed via deletion')
  return errors
}

/** The object with its generation raised when more than metadata and (with a status subresource) status differ. */
export function countGeneration(info: ResourceInfo, object: JsonObject, old: JsonObject): JsonObject {
  if (!countsGeneration(info)) return object
  const hasStatus = Object.hasOwn(info.subresources, 'status')
  const desired = (whole: JsonObject): JsonObject => withFields(whole, { metadata: undefined, ...(hasStatus ? { status: undefined } : {}) })
  const { generation } = metadataOf(old)
  const before = typeof generation === 'number' ? generation : 0
  return withMetadata(object, { generation: jsonEqual(desired(object), desired(old)) ? generation : before + 1 })
}
