/**
 * Translates managedFields between a Scale and the scaled object: `spec.replicas` of the Scale corresponds to the object's replicas field.
 */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { ReplicasPath } from '../rest/subresource.ts'
import type { StructType } from '../types/go-types.ts'
import { kindType } from '../types/go-types.ts'
import type { FieldSet } from './field-set.ts'
import { difference, fieldSet, isEmptySet, intersection, leafSet } from './field-set.ts'
import type { ManagerEntry } from './manager-entry.ts'
import { readManagers, sameManager, writeManagers } from './managed-fields.ts'
import type { AppliedType } from './applied-type.ts'

const gvk = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const apiVersion = 'autoscaling/v1'

/**
 * Returns the Go type of Scale with one change: `spec.replicas` is encoded even if its value is 0. Go omits the value 0. Without the
 * change, a request that scales to 0 would count as the removal of `spec.replicas`, and the requester would not own the field.
 */
function withZero(type: StructType): StructType {
  const spec = type.fields.get('spec')
  const replicas = spec?.type.kind === 'struct' ? spec.type.fields.get('replicas') : undefined
  if (spec?.type.kind !== 'struct' || replicas === undefined) return type
  const fields = new Map([...spec.type.fields, ['replicas', { ...replicas, dropsEmpty: false }]] as const)
  return { ...type, fields: new Map([...type.fields, ['spec', { ...spec, type: { ...spec.type, fields } }]]) }
}

const goType = kindType(gvk)

/**
 * The type Scale for server-side apply. `custom` is true although Scale is a built-in type. With `custom: true`, a manager can own the
 * empty `spec` of a Scale.
 */
export const scaleType: AppliedType & typeof gvk = { ...gvk, custom: true, subresources: {}, ...(goType && { goType: withZero(goType) }) }

/**
 * Returns the Scale with managedFields that are computed from the managedFields of `object`. An entry that does not contain the replicas
 * field is omitted. In every other entry, `spec.replicas` replaces all fields, and the apiVersion becomes `autoscaling/v1`.
 */
export function withScaleManagers(scale: JsonObject, object: JsonObject, pathIn: ReplicasPath): JsonObject {
  const entries = managersOf(object).flatMap((entry) => {
    const path = pathIn(entry.apiVersion)
    return path && owns(entry, setOf(path)) ? [{ ...entry, apiVersion, fields: setOf(['spec', 'replicas']) }] : []
  })
  return withManagers(scale, entries)
}

/**
 * Returns the object with the managedFields that result from a write to the subresource `scale`. The managers of `spec.replicas` in the
 * Scale become the only managers of the replicas field of the object (k8s.io/apimachinery/pkg/util/managedfields: ScaleHandler).
 *
 * @param version the API group and version in the URL of the request, in the form of an apiVersion, e.g. `apps/v1`.
 */
export function withObjectManagers(object: JsonObject, scale: JsonObject, version: string, pathIn: ReplicasPath): JsonObject {
  const before = managersOf(object)
  const left = new Set(managersOf(scale))
  const kept = before.flatMap((entry) => {
    const path = pathIn(entry.apiVersion)
    if (path === undefined) return []
    if (path === null || !owns(entry, setOf(path))) return [entry]
    // If the Scale has an entry with the same identity, the entry of the object stays unchanged. Otherwise, the replicas field is removed
    // from the entry of the object. The identity of an Update entry includes the apiVersion, and all entries of the Scale have the
    // apiVersion `autoscaling/v1`. Therefore, the replicas field is always removed from an Update entry of the object. For each entry of
    // the Scale that remains in `left` and contains `spec.replicas`, `scaling` contains a new entry with only the replicas field.
    const own = [...left].find((one) => sameManager(one, entry))
    if (own === undefined) return [{ ...entry, fields: difference(entry.fields, setOf(path)) }]
    left.delete(own)
    return [entry]
  })
  const fields = setOf(pathIn(version) ?? [])
  const scaling = [...left]
    .filter((entry) => owns(entry, setOf(['spec', 'replicas'])))
    // Each new entry is a copy of an entry of the Scale, with another apiVersion and other fields. If the managedFields of the object
    // before the write had an entry with the same identity as the entry of the Scale, the new entry gets the time of the object's entry.
    // Otherwise, the new entry has no time.
    .map((entry) => ({ ...entry, apiVersion: version, fields, time: before.find((one) => sameManager(one, entry))?.time }))
  return withManagers(object, [...kept, ...scaling])
}

function managersOf({ metadata }: JsonObject): ManagerEntry[] {
  return readManagers(isObject(metadata) ? metadata.managedFields : undefined)
}

function withManagers(object: JsonObject, entries: readonly ManagerEntry[]): JsonObject {
  const { managedFields: _managedFields, ...metadata } = isObject(object.metadata) ? object.metadata : {}
  const managedFields = writeManagers(entries)
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } }
}

function owns(entry: ManagerEntry, fields: FieldSet): boolean {
  return !isEmptySet(intersection(entry.fields, fields))
}

function setOf([field, ...rest]: readonly string[]): FieldSet {
  return field === undefined ? leafSet : fieldSet(false, [[`f:${field}`, setOf(rest)]])
}
