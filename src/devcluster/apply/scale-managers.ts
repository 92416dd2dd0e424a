/** Who owns the number of replicas: the scale subresource has a field of its own for it, and the managers of that are those of the object. */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { StructType } from '../types/go-types.ts'
import { kindType } from '../types/go-types.ts'
import type { FieldSet } from './field-set.ts'
import { difference, fieldSet, isEmptySet, intersection, leafSet } from './field-set.ts'
import type { ManagerEntry } from './managed-fields.ts'
import { readManagers, sameManager, writeManagers } from './managed-fields.ts'
import type { AppliedType } from './server-side-apply.ts'

const gvk = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const apiVersion = 'autoscaling/v1'

/** In Go a number of zero is left out; here it is a number, so that who scales to zero changes what others own. */
function withZero(type: StructType): StructType {
  const spec = type.fields.get('spec')
  const replicas = spec?.type.kind === 'struct' ? spec.type.fields.get('replicas') : undefined
  if (spec?.type.kind !== 'struct' || replicas === undefined) return type
  const fields = new Map([...spec.type.fields, ['replicas', { ...replicas, dropsEmpty: false }]] as const)
  return { ...type, fields: new Map([...type.fields, ['spec', { ...spec, type: { ...spec.type, fields } }]]) }
}

const goType = kindType(gvk)

/** A Scale as managers see it; that there is a spec is a claim, as in a custom resource. */
export const scaleType: AppliedType & typeof gvk = { ...gvk, custom: true, subresources: {}, ...(goType && { goType: withZero(goType) }) }

/** Where a version of a type has the number: undefined where there is no such version, null where it has no scale subresource. */
export type ReplicasPath = (apiVersion: string) => readonly string[] | null | undefined

/** The Scale with those of the object's managers who own the number. */
export function withScaleManagers(scale: JsonObject, object: JsonObject, pathIn: ReplicasPath): JsonObject {
  const entries = managersOf(object).flatMap((entry) => {
    const path = pathIn(entry.apiVersion)
    return path && owns(entry, setOf(path)) ? [{ ...entry, apiVersion, fields: setOf(['spec', 'replicas']) }] : []
  })
  return withManagers(scale, entries)
}

/**
 * The object with its managers as they are after a write that left `scale` with its own (apimachinery `managedfields`: ScaleHandler):
 * who has lost the number there loses it here.
 *
 * @param version the apiVersion of the request
 */
export function withObjectManagers(object: JsonObject, scale: JsonObject, version: string, pathIn: ReplicasPath): JsonObject {
  const before = managersOf(object)
  const left = new Set(managersOf(scale))
  const kept = before.flatMap((entry) => {
    const path = pathIn(entry.apiVersion)
    if (path === undefined) return []
    if (path === null || !owns(entry, setOf(path))) return [entry]
    // An updater is another one in another version: it comes back below, with the number alone.
    const own = [...left].find((one) => sameManager(one, entry))
    if (own === undefined) return [{ ...entry, fields: difference(entry.fields, setOf(path)) }]
    left.delete(own)
    return [entry]
  })
  const fields = setOf(pathIn(version) ?? [])
  const scaling = [...left]
    .filter((entry) => owns(entry, setOf(['spec', 'replicas'])))
    // No time is noted for who comes to the number in this way.
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
