/** Fields of the metadata that the server sets on a create and preserves on an update. */
import { formatTime } from '../../api/conditions.ts'
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, quote } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, jsonEqual, setOwn } from '../../api/json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { asGo } from '../types/go-value.ts'
import { bareError, notANumber } from '../apimachinery/status-error.ts'

export function metadataOf(object: JsonObject): JsonObject {
  return isObject(object.metadata) ? object.metadata : {}
}

/** Returns a string field of the metadata. Returns an empty string when the field is missing or is not a string. */
export function metadataText(object: JsonObject, field: string): string {
  const value = metadataOf(object)[field]
  return typeof value === 'string' ? value : ''
}

export function finalizersOf(object: JsonObject): readonly string[] {
  const { finalizers } = metadataOf(object)
  return Array.isArray(finalizers) ? finalizers.filter((finalizer) => typeof finalizer === 'string') : []
}

/**
 * Returns a copy of the object in which the fields of `changes` replace the object's fields. If a field of `changes` has the value
 * undefined, the copy lacks this field.
 */
export function withFields(object: JsonObject, changes: JsonObject): JsonObject {
  const changed: JsonObject = { ...object }
  for (const [key, value] of Object.entries(changes)) {
    // After a `delete`, V8 needs more time for every access to the object. `delete` is therefore used only for fields that the object has.
    if (value !== undefined) setOwn(changed, key, value)
    else if (Object.hasOwn(changed, key)) delete changed[key]
  }
  return changed
}

/** Returns a copy of the object with changed fields of its metadata. A field that is undefined in `changes` is removed. */
export function withMetadata(object: JsonObject, changes: JsonObject): JsonObject {
  return { ...object, metadata: withFields(metadataOf(object), changes) }
}

/**
 * Returns the resourceVersion in an object from a client; undefined when the resourceVersion is missing or `0`. Throws 500 when the
 * resourceVersion is not a number.
 */
export function givenRevision(object: JsonObject): string | undefined {
  const text = metadataText(object, 'resourceVersion')
  if (text !== '' && !/^\d+$/.test(text)) throw bareError(notANumber('ParseUint', text))
  return text === '' || Number(text) === 0 ? undefined : text
}

/** True when the server increments `metadata.generation` for changes of the desired state of this type. */
function countsGeneration(info: ResourceInfo): boolean {
  return info.strategy.generation ?? info.custom
}

/**
 * Returns a copy of an object that is being created. The copy contains the metadata that the server sets, e.g. `uid` and
 * `creationTimestamp`. The function does not generate a name. If the request contains a resourceVersion, the copy keeps the
 * resourceVersion, because kube-apiserver returns this resourceVersion in the response to a dry run.
 */
export function startMetadata(
  info: ResourceInfo,
  object: JsonObject,
  at: { namespace: string | undefined; uid: string; now: number },
): JsonObject {
  return withMetadata(withoutEmptyMetadata(object), {
    namespace: info.namespaced ? at.namespace : undefined,
    uid: at.uid,
    creationTimestamp: formatTime(at.now),
    ...(countsGeneration(info) ? { generation: 1 } : {}),
    selfLink: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  })
}

const collections = ['labels', 'annotations', 'ownerReferences', 'finalizers', 'managedFields']

/** Removes empty lists and maps from the metadata, because Go omits them. */
function withoutEmptyMetadata(object: JsonObject): JsonObject {
  const metadata = metadataOf(object)
  const empty = collections.filter((field) => {
    const value = metadata[field]
    return typeof value === 'object' && (value === null || Object.keys(value).length === 0)
  })
  return empty.length === 0 ? object : withMetadata(object, Object.fromEntries(empty.map((field) => [field, undefined])))
}

/**
 * Returns the updated object with metadata of the old object:
 *
 * - The fields that clients cannot change are copied from the old object.
 * - `uid`, `deletionTimestamp` and `deletionGracePeriodSeconds` are copied only if the update omits them.
 * - `selfLink` is removed, except in a dry run. kube-apiserver removes `selfLink` only when it stores an object.
 */
export function carryMetadata(object: JsonObject, old: JsonObject, dryRun = false): JsonObject {
  const [now, before] = [metadataOf(object), metadataOf(old)]
  const kept = (field: string): JsonValue | undefined => (isGiven(now[field]) ? now[field] : before[field])
  return withMetadata(withoutEmptyMetadata(object), {
    namespace: before.namespace,
    uid: kept('uid'),
    resourceVersion: before.resourceVersion,
    generation: before.generation,
    creationTimestamp: before.creationTimestamp,
    ...(dryRun ? {} : { selfLink: undefined }),
    deletionTimestamp: kept('deletionTimestamp'),
    deletionGracePeriodSeconds: kept('deletionGracePeriodSeconds'),
  })
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** Validates changes of the metadata (k8s.io/apimachinery/pkg/api/validation: ValidateObjectMetaAccessorUpdate). */
export function validateMetadataUpdate(object: JsonObject, old: JsonObject): FieldError[] {
  const [now, before] = [metadataOf(object), metadataOf(old)]
  const errors: FieldError[] = []
  const immutable = (field: string): void => {
    if (!jsonEqual(now[field], before[field])) errors.push(invalid(`metadata.${field}`, now[field] ?? '', 'field is immutable'))
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
  for (const field of ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds']) immutable(field)
  return errors
}

/**
 * Increments `metadata.generation` if one of these parts of the object changes:
 *
 * - The fields outside `metadata`. If the type has a status subresource, `status` is excluded.
 * - For Deployments, the annotations, except in a write to the subresource `status`.
 * - For EndpointSlices, the labels (k8s.io/kubernetes/pkg/registry/discovery/endpointslice: PrepareForUpdate).
 */
export function countGeneration(info: ResourceInfo, object: JsonObject, old: JsonObject, subresource: string): JsonObject {
  if (!countsGeneration(info)) return object
  const hasStatus = Object.hasOwn(info.subresources, 'status')
  const counted = (whole: JsonObject): JsonValue | undefined => {
    if (info.storageKey === 'apps/deployments' && subresource !== 'status') return metadataOf(whole).annotations ?? {}
    return info.storageKey === 'discovery.k8s.io/endpointslices' ? (metadataOf(whole).labels ?? {}) : undefined
  }
  const desired = (whole: JsonObject): JsonObject =>
    withFields(info.goType === undefined ? whole : asGo(info.goType, whole), {
      metadata: counted(whole),
      ...(hasStatus ? { status: undefined } : {}),
    })
  const { generation } = metadataOf(old)
  const before = typeof generation === 'number' ? generation : 0
  return withMetadata(object, { generation: jsonEqual(desired(object), desired(old)) ? generation : before + 1 })
}

/**
 * True when the object is marked for deletion, has no remaining grace period, and has no finalizers in `metadata` or `spec`
 * (k8s.io/apiserver/pkg/registry/generic/registry: ShouldDeleteDuringUpdate).
 */
export function mayBeRemoved(info: ResourceInfo, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object)
  if (typeof deletionTimestamp !== 'string') return false
  if (typeof deletionGracePeriodSeconds === 'number' && deletionGracePeriodSeconds > 0) return false
  return finalizersOf(object).length === 0 && (info.strategy.heldBy?.(object) ?? []).length === 0
}
