/** `metadata.managedFields`: which manager wrote which fields, with which operation, in which version, through which subresource. */
import { formatTime } from '../../api/conditions.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { AppliedType } from './server-side-apply.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import { Comparisons } from './comparisons.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, fromFieldsV1, isEmptySet, toFieldsV1, union } from './field-set.ts'

/** One entry. Manager, operation, apiVersion (of updates) and subresource together identify it. */
export interface ManagerEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** Who writes, for one request. */
export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly now: number
}

/** Who applies is the same in every version. */
export function sameManager(a: Omit<ManagerEntry, 'fields' | 'time'>, b: Omit<ManagerEntry, 'fields' | 'time'>): boolean {
  const isSameVersion = a.operation === 'Apply' || a.apiVersion === b.apiVersion
  return a.manager === b.manager && a.operation === b.operation && isSameVersion && a.subresource === b.subresource
}

/** Of entries that are the same manager's, the last one counts. */
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

/** The JSON form, in the API server's order; managers that own nothing are left out. */
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
 * The managers after an update from `live` (undefined: a create) to `object`:
 * the writer owns what it changed, and nobody owns what is gone. With a `view`, each manager is judged in its own version.
 */
export function managersAfterUpdate(
  info: AppliedType,
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
  view?: VersionView,
): ManagerEntry[] {
  const managers = managersOf(live, object, writer.subresource !== '')
  // The API server does not begin to track an object whose managers are not known, but by an apply.
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

/** As many managers that write by updates are kept apart. */
const maxUpdateManagers = 10

/** Where there are more, those who wrote longest ago become one. */
function capped(managers: readonly ManagerEntry[]): ManagerEntry[] {
  const updaters = managers.filter(({ operation }) => operation === 'Update')
  if (updaters.length <= maxUpdateManagers) return [...managers]
  const oldest = updaters.sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1))
  const [first, second] = oldest.filter(({ apiVersion }) => apiVersion === oldest[0]!.apiVersion) as [ManagerEntry, ManagerEntry?]
  if (second === undefined) return [...managers]
  const ancient: ManagerEntry = {
    manager: 'ancient-changes',
    operation: 'Update',
    apiVersion: first.apiVersion,
    subresource: '',
    time: second.time,
    fields: union(first.fields, second.fields),
  }
  return [...managers.filter((entry) => entry !== first && entry !== second), ancient]
}

/** The managers that a written object itself carries, or those of the live object where it carries none. */
function managersOf(live: JsonObject | undefined, object: JsonObject, subresource: boolean): ManagerEntry[] {
  const written = isObject(object.metadata) ? object.metadata.managedFields : undefined
  if (!subresource && Array.isArray(written)) {
    if (isReset(written)) return []
    const managers = readManagers(written)
    if (managers.length > 0) return managers
  }
  return readManagers(isObject(live?.metadata) ? live.metadata.managedFields : undefined)
}

/** `[]` or `[{}]`: forget who wrote what. */
function isReset(written: readonly JsonValue[]): boolean {
  return written.length === 0 || (written.length === 1 && isObject(written[0]) && Object.keys(written[0]).length === 0)
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
