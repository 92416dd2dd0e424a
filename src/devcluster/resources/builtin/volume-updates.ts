/** Validation of updates of PersistentVolumeClaims and PersistentVolumes (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../../api/json.ts'
import { parseQuantity } from '../../apimachinery/quantity.ts'
import { at, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, equalExcept } from '../defaulting.ts'
import { immutable } from './field-checks.ts'

/** The annotation that named the storage class before the field `storageClassName` existed. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

const immutableClaim = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

/**
 * Validates an update of a claim (ValidatePersistentVolumeClaimUpdate). The spec is immutable, with these exceptions: a missing volume or
 * storage class may be set; the requested size and the volume attributes class of a bound claim may change.
 */
export function validateClaimUpdate(claim: JsonObject, old: JsonObject): FieldError[] {
  const [spec, before] = [specOf(claim), specOf(old)]
  const isBound = textAt(old, 'status', 'phase') === 'Bound'
  const { isAllowed: mayGetClass, errors } = validateClassUpdate(claim, old)
  const free = [
    ...(textAt(before, 'volumeName') === '' ? ['volumeName'] : []),
    ...(mayGetClass ? ['storageClassName'] : []),
    ...(isBound ? ['volumeAttributesClassName'] : []),
  ]
  if (!equalExcept(withAmounts(spec, isBound), withAmounts(before, isBound), ...free)) errors.push(forbidden('spec', immutableClaim))
  return [
    ...errors,
    ...validateSizeUpdate(claim, old),
    ...immutable(spec.volumeMode, before.volumeMode, 'volumeMode'),
    ...validateAttributesUpdate(spec, before, at(old, 'status', 'currentVolumeAttributesClassName')),
  ]
}

function specOf({ spec }: JsonObject): JsonObject {
  return isObject(spec) ? spec : {}
}

/**
 * Validates the storage class of an updated claim. If the old claim has no class, the update may set the field `storageClassName`. If only
 * the annotation of the old claim contains the class, the update may set the field to the same class, and may remove the annotation at the
 * same time. No other change of the class is permitted (validateStorageClassUpgradeFromAnnotation, validateStorageClassUpgradeFromNil).
 */
function validateClassUpdate(claim: JsonObject, old: JsonObject): { readonly isAllowed: boolean; readonly errors: FieldError[] } {
  const name = at(claim, 'spec', 'storageClassName')
  const [annotation, before] = [claim, old].map((object) => at(object, 'metadata', 'annotations', classAnnotation))
  const isNew = typeof name === 'string' && typeof at(old, 'spec', 'storageClassName') !== 'string'
  const isAllowed = isNew && (before === undefined || name === before)
  const isMoved = isAllowed && before !== undefined && annotation === undefined
  return { isAllowed, errors: isMoved ? [] : immutable(annotation ?? '', before ?? '', `metadata.annotations.${classAnnotation}`) }
}

/**
 * Returns a copy of the spec for a comparison. In the copy, the quantities in `resources` are numbers, so that `1Gi` equals `1024Mi`. If
 * `isSizeFree` is true, the copy does not contain the requested size, because the size may change.
 */
function withAmounts(spec: JsonObject, isSizeFree: boolean): JsonObject {
  const amounts = (list: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, parseQuantity(amount) ?? amount]))
  return changeObjectField(spec, 'resources', (resources) =>
    changeObjectField(changeObjectField(resources, 'limits', amounts), 'requests', (requests) => {
      const { storage, ...others } = amounts(requests)
      return isSizeFree ? others : { ...others, ...(storage !== undefined && { storage }) }
    }),
  )
}

/**
 * Validates a change of the requested size. The size may become smaller if it stays greater than the capacity of the volume. With such a
 * change, users revert an expansion that has failed.
 */
function validateSizeUpdate(claim: JsonObject, old: JsonObject): FieldError[] {
  const size = requestedSize(claim)
  const capacity = parseQuantity(at(old, 'status', 'capacity', 'storage')) ?? 0
  return size < requestedSize(old) && size <= capacity
    ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : []
}

/** Returns the size that a claim requests, in bytes. */
export function requestedSize(claim: JsonObject): number {
  return parseQuantity(at(claim, 'spec', 'resources', 'requests', 'storage')) ?? 0
}

/**
 * Validates a change of the volume attributes class of a claim. If the volume already has a class (`current`), the claim must continue to
 * name a class.
 */
function validateAttributesUpdate(spec: JsonObject, before: JsonObject, current: JsonValue | undefined): FieldError[] {
  const name = spec.volumeAttributesClassName
  if (typeof current !== 'string' || name === before.volumeAttributesClassName || (typeof name === 'string' && name !== '')) return []
  const what = name === '' ? 'empty string' : 'nil'
  const detail = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
  return [forbidden('spec.volumeAttributesClassName', detail)]
}

/**
 * Validates an update of a volume (ValidatePersistentVolumeUpdate). The source of the volume is immutable.
 *
 * @param otherFields the fields of the spec that are not sources.
 */
export function validateVolumeUpdate(volume: JsonObject, old: JsonObject, otherFields: ReadonlySet<string>): FieldError[] {
  const [spec, before] = [withoutNewSecret(specOf(volume), specOf(old)), specOf(old)]
  const source = 'spec.persistentvolumesource'
  const { volumeAttributesClassName: attributes, nodeAffinity } = spec
  return [
    ...(equalExcept(spec, before, ...otherFields) ? [] : [forbidden(source, `${source} is immutable after creation`)]),
    ...immutable(spec.volumeMode, before.volumeMode, 'volumeMode'),
    ...(isObject(before.nodeAffinity) && !isSameAffinity(nodeAffinity, before.nodeAffinity)
      ? [invalid('nodeAffinity', nodeAffinity ?? null, 'field is immutable, except for updating from beta label to GA')]
      : []),
    ...(typeof before.volumeAttributesClassName === 'string' && typeof attributes !== 'string'
      ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : []),
  ]
}

/**
 * Removes the field `controllerExpandSecretRef` from the CSI source of the new volume if the old CSI source does not have this field. An
 * update is allowed to add this field, so the comparison of the two sources must ignore an added field.
 */
function withoutNewSecret(spec: JsonObject, before: JsonObject): JsonObject {
  if (!isObject(before.csi) || before.csi.controllerExpandSecretRef !== undefined) return spec
  return changeObjectField(spec, 'csi', ({ controllerExpandSecretRef: _added, ...csi }) => csi)
}

/** Maps beta labels of nodes to the stable labels that replace them (betaToGALabel). */
const stableLabels: JsonObject = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/**
 * Returns true if two node affinities are equal. If a key in `before` is a beta label, the stable label that replaces the beta label counts
 * as the same key in `now` (validatePvNodeAffinity).
 */
function isSameAffinity(now: JsonValue | undefined, before: JsonValue | undefined): boolean {
  if (Array.isArray(now) && Array.isArray(before))
    return now.length === before.length && now.every((item, index) => isSameAffinity(item, before[index]))
  if (!isObject(now) || !isObject(before)) return jsonEqual(now, before)
  const { key, ...others } = before
  const renamed = typeof key === 'string' && getOwn(stableLabels, key) === now.key ? { key: now.key, ...others } : before
  const fields = new Set([...Object.keys(now), ...Object.keys(renamed)])
  return [...fields].every((field) => isSameAffinity(getOwn(now, field), getOwn(renamed, field)))
}
