/**
 * `metadata.managedFields`: the fields of each field manager. A manager has one entry for each operation, version and subresource with
 * which it writes.
 */
import { formatTime } from '../../api/conditions.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { AppliedType } from './applied-type.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import { Comparisons } from './compare-versions.ts'
import { difference, emptySet, fromFieldsV1, isEmptySet, toFieldsV1, union } from './field-set.ts'
import type { ManagerEntry, Writer } from './manager-entry.ts'

/** True when two entries have the same identity. The apiVersion is part of the identity only for the operation Update. */
export function sameManager(a: Omit<ManagerEntry, 'fields' | 'time'>, b: Omit<ManagerEntry, 'fields' | 'time'>): boolean {
  const isSameVersion = a.operation === 'Apply' || a.apiVersion === b.apiVersion
  return a.manager === b.manager && a.operation === b.operation && isSameVersion && a.subresource === b.subresource
}

/** Parses managedFields. If several entries have the same identity, the last one is used. */
export function readManagers(managedFields: JsonValue | undefined): ManagerEntry[] {
  if (!Array.isArray(managedFields)) return []
  const entries = managedFields.filter(isObject).map((entry): ManagerEntry => ({
    manager: textOf(entry.manager),
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: textOf(entry.apiVersion),
    subresource: textOf(entry.subresource),
    time: typeof entry.time === 'string' ? entry.time : undefined,
    fields: fromFieldsV1(entry.fieldsV1),
  }))
  return entries.filter((entry, index) => !entries.slice(index + 1).some((later) => sameManager(entry, later)))
}

/** Returns the JSON of managedFields, sorted as in kube-apiserver. Entries without fields are dropped. */
export function writeManagers(managers: readonly ManagerEntry[]): JsonObject[] {
  const order = (entry: ManagerEntry): string =>
    [entry.operation, entry.time ?? '', entry.manager, entry.apiVersion, entry.subresource].join('\0')
  return managers
    .filter(({ fields }) => !isEmptySet(fields))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(fields),
      ...(subresource === '' ? {} : { subresource }),
    }))
}

/**
 * Returns the entries of managedFields after an update. The writer owns the changed fields, and no manager owns the removed fields.
 *
 * @param live the object before the update; undefined for a create request.
 * @param view converts objects to the version of an entry, because the fields of the entry are compared in this version. Undefined if every
 *   field has the same path in all versions.
 */
export function managersAfterUpdate(
  info: AppliedType,
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
  view?: VersionView,
): ManagerEntry[] {
  const managers = managersOf(live, object, writer.subresource !== '')
  // An update of a stored object without managedFields does not add managedFields. Only a server-side apply request starts to track the
  // fields of such an object (k8s.io/apimachinery/pkg/util/managedfields/internal: skipnonapplied.go).
  if (live !== undefined && managers.length === 0) return []
  const comparisons = new Comparisons(info, live, object, writer, view)
  const { changed } = comparisons.of(writer)!
  const left = managers.flatMap((entry) => {
    const found = comparisons.of(entry)
    return found === undefined ? [] : [{ ...entry, fields: difference(entry.fields, union(found.changed, found.removed)) }]
  })
  if (isEmptySet(changed)) return left
  const own = left.find((entry) => sameManager(entry, writer))
  const time = formatTime(writer.now)
  const entries = left.filter((entry) => entry !== own && !isEmptySet(entry.fields))
  return capped([...entries, { ...writer, time, fields: union(own?.fields ?? emptySet, changed) }])
}

/** Maximum number of entries with the operation Update (k8s.io/apimachinery/pkg/util/managedfields/internal: capmanagers.go). */
const maxUpdateManagers = 10

/** The name of the manager in an entry of `managedFields` that was merged from several older entries. */
const ancientChanges = 'ancient-changes'

/**
 * Merges the oldest Update entries until at most `maxUpdateManagers` are left. Entries with the same apiVersion are merged into one entry.
 * The manager of this entry is `ancient-changes`.
 */
function capped(managers: readonly ManagerEntry[]): ManagerEntry[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update')
  let surplus = updaters.length - maxUpdateManagers
  /** Maps each apiVersion to the entry with which the next entry of this apiVersion is merged. */
  const targets = new Map<string, ManagerEntry>()
  const merged = new Set<ManagerEntry>()
  for (const entry of updaters.sort((a, b) => (ageOrder(a) < ageOrder(b) ? -1 : 1))) {
    if (surplus <= 0) break
    const target = targets.get(entry.apiVersion)
    targets.set(entry.apiVersion, target === undefined ? entry : mergedEntry(target, entry))
    if (target === undefined) continue
    merged.add(target).add(entry)
    surplus -= 1
  }
  const created = [...targets.values()].filter((target) => !managers.includes(target))
  return [...managers.filter((entry) => !merged.has(entry)), ...created]
}

function mergedEntry(older: ManagerEntry, newer: ManagerEntry): ManagerEntry {
  const { operation, apiVersion, time } = newer
  return { manager: ancientChanges, operation, apiVersion, subresource: '', time, fields: union(older.fields, newer.fields) }
}

/**
 * Returns the sort key of an entry. Older entries come before newer entries. Among entries with the same time, the entries with the manager
 * `ancient-changes` come first.
 *
 * Without the rule for equal times, `capped` could merge other entries into a second entry with the manager `ancient-changes` and the same
 * apiVersion. With the rule, `capped` merges these entries into the existing entry.
 */
function ageOrder({ manager, time = '', subresource }: ManagerEntry): string {
  return [time, manager === ancientChanges ? 0 : 1, manager, subresource].join('\0')
}

/**
 * Returns the managedFields of the written object; an empty list if the client resets managedFields. If the written object has no
 * managedFields, or the write is to a subresource, returns the managedFields of the live object.
 */
function managersOf(live: JsonObject | undefined, object: JsonObject, subresource: boolean): ManagerEntry[] {
  const written = isObject(object.metadata) ? object.metadata.managedFields : undefined
  if (!subresource && Array.isArray(written)) {
    if (isReset(written)) return []
    const managers = readManagers(written)
    if (managers.length > 0) return managers
  }
  return readManagers(isObject(live?.metadata) ? live.metadata.managedFields : undefined)
}

/** True for the values `[]` and `[{}]`, with which a client resets managedFields. */
function isReset(written: readonly JsonValue[]): boolean {
  return written.length === 0 || (written.length === 1 && isObject(written[0]) && Object.keys(written[0]).length === 0)
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
