/** Server-side apply: merges a configuration into an object, and makes the applier the owner of the configuration's fields. */
import { formatTime } from '../../api/conditions.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { quote } from '../../api/field-error.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import { applyConflict, bareError } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { appliedFields, compare } from './compare.ts'
import { Comparisons } from './compare-versions.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, formatElement, intersection, isEmptySet, pathsOf, union } from './field-set.ts'
import type { ManagerEntry, Writer } from './manager-entry.ts'
import { lastAppliedFields, lastAppliedManager, withLastApplied } from './last-applied.ts'
import { readManagers, sameManager, writeManagers } from './managed-fields.ts'
import { ownedPart, trackedPart } from './owned-part.ts'
import { mergeConfig } from './merge-config.ts'
import { pruneApplied } from './prune-applied.ts'
import type { Typing } from './typing.ts'
import { elementOf, typingOf } from './typing.ts'
import type { AppliedType } from './applied-type.ts'

export interface ApplyRequest {
  readonly info: AppliedType
  /** The current object in the version of `info`; undefined when the request creates the object. */
  readonly live: JsonObject | undefined
  readonly config: JsonObject
  /** The configuration as the client sent it, for error messages. */
  readonly named: JsonObject
  readonly force: boolean
  readonly writer: Writer
  /**
   * Converts an object to another version of its type, e.g. to the `apiVersion` of an entry in managedFields. Undefined if every field has
   * the same path in all versions.
   */
  readonly view?: VersionView | undefined
}

/**
 * Merges the configuration into the live object. Returns the result with updated managedFields.
 *
 * @throws {StatusError} 409 when another manager owns a field that would change, unless `force` is true. 500 for lists with missing or
 * duplicate keys.
 */
export function applyConfiguration({ info, live, config, named, force, writer, view }: ApplyRequest): JsonObject {
  const typing = typingOf(info)
  checkLists(info, config, named, typing)
  const claimed = claimedFields(info, ownedPart(info, config, writer.subresource), typing)

  const managers = live === undefined ? [] : managersBefore(info, live, typing, writer)
  const own = managers.find((entry) => sameManager(entry, writer))
  const foreign = managers.filter((entry) => !sameManager(entry, writer))

  const base = live ?? startOf(config)
  const merged = mergeConfig(base, withoutManagedFields(config), typing) as JsonObject
  const applied =
    own === undefined ? merged : pruneApplied({ info, merged, last: own, next: { ...writer, fields: claimed }, others: foreign, view })
  const changes = new Comparisons(info, live, applied, writer, view)
  const others = foreign.filter((entry) => changes.of(entry) !== undefined)
  const conflicts = others
    .map((entry) => ({ entry, fields: intersection(entry.fields, changes.of(entry)!.changed) }))
    .filter(({ fields }) => !isEmptySet(fields))
  if (conflicts.length > 0 && !force) {
    const allowed = live !== undefined && writer.manager === lastAppliedManager ? lastAppliedFields(info, live, typing) : emptySet
    const left = conflicts
      .map(({ entry, fields }) => ({ entry, fields: difference(fields, allowed) }))
      .filter(({ fields }) => !isEmptySet(fields))
    if (left.length > 0) throw conflictError(left)
  }

  const kept = others.map((entry) => {
    const { changed, removed } = changes.of(entry)!
    return { ...entry, fields: difference(entry.fields, union(changed, removed)) }
  })

  // The time of the applier's entry is updated only if the request changes the object.
  const { changed, removed } = changes.of(writer)!
  const time = isEmptySet(changed) && isEmptySet(removed) ? own?.time : formatTime(writer.now)
  const managedFields = writeManagers([...kept, { ...writer, time, fields: claimed }])
  const metadata = isObject(applied.metadata) ? applied.metadata : {}
  const tracked = { ...applied, metadata: { ...metadata, managedFields } }
  return live !== undefined && writer.manager === lastAppliedManager ? withLastApplied(tracked, live, named) : tracked
}

/**
 * Returns the fields that the applier will own. An empty `metadata`, and an empty `spec` or `status` of a built-in type, cannot be owned.
 */
function claimedFields(info: AppliedType, wanted: JsonObject, typing: Typing): FieldSet {
  const claimsNothing = info.custom ? ['metadata'] : ['metadata', 'spec', 'status']
  const given = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => !(claimsNothing.includes(key) && isObject(value) && Object.keys(value).length === 0)),
  )
  if (Object.keys(given).length === 0) return emptySet
  return { ...appliedFields(given, typing), member: false }
}

function managersBefore(info: AppliedType, live: JsonObject, typing: Typing, { subresource }: Writer): ManagerEntry[] {
  const managers = readManagers(isObject(live.metadata) ? live.metadata.managedFields : undefined)
  if (managers.length > 0) return managers
  // If the object has no managedFields, the managers that wrote the object before its first apply request are unknown. The manager
  // `before-first-apply` becomes the owner of their fields (k8s.io/apimachinery/pkg/util/managedfields/internal: skipnonapplied.go).
  const apiVersion = typeof live.apiVersion === 'string' ? live.apiVersion : ''
  const { changed } = compare(trackedPart(info, undefined, subresource), trackedPart(info, live, subresource), typing)
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, subresource, time: undefined, fields: changed }]
}

function withoutManagedFields(config: JsonObject): JsonObject {
  if (!isObject(config.metadata)) return config
  const { managedFields: _managedFields, ...metadata } = config.metadata
  return { ...config, metadata }
}

function startOf(config: JsonObject): JsonObject {
  return { apiVersion: config.apiVersion, kind: config.kind, metadata: {} }
}

function conflictError(conflicts: readonly { entry: ManagerEntry; fields: FieldSet }[]): Error {
  const each = conflicts.flatMap(({ entry, fields }) => pathsOf(fields).map((path) => ({ manager: formatManager(entry), path })))
  const causes = each.map(({ manager, path }) => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field: path }))
  if (each.length === 1) return applyConflict(`Apply failed with 1 conflict: conflict with ${each[0]!.manager}: ${each[0]!.path}`, causes)
  const managers = [...new Set(each.map(({ manager }) => manager))].sort()
  const texts = managers.map((manager) =>
    [`conflicts with ${manager}:`, ...each.filter((one) => one.manager === manager).map(({ path }) => `- ${path}`)].join('\n'),
  )
  return applyConflict(`Apply failed with ${each.length} conflicts: ${texts.join('\n')}`, causes)
}

function formatManager(entry: ManagerEntry): string {
  const name = entry.subresource === '' ? quote(entry.manager) : `${quote(entry.manager)} with subresource ${quote(entry.subresource)}`
  return entry.operation === 'Apply' ? name : `${name} using ${entry.apiVersion}`
}

/** Throws a 500 error if a list contains an item without any key field, or two items with equal keys. */
function checkLists(info: AppliedType, config: JsonObject, named: JsonObject, typing: Typing): void {
  const check = (value: JsonValue, type: Typing, path: string): void => {
    if (isObject(value)) {
      if (type.atomicMap) return
      for (const [key, field] of Object.entries(value)) if (field !== undefined) check(field, type.field(key), `${path}.${key}`)
    } else if (Array.isArray(value) && type.list !== 'atomic') {
      const seen = new Set<string>()
      value.forEach((item, index) => {
        const element = elementOf(item, type)
        if (element === undefined) {
          const keys = type.keys.map(quote).join(' ')
          const problem = `omits all key fields [${keys}] (and doesn't have default values for any key fields)`
          throw typedPatchError(info, named, `${path}: element ${index}: associative list with keys has an element that ${problem}`)
        }
        if (seen.has(element)) throw typedPatchError(info, named, `${path}: duplicate entries for key ${formatElement(element)}`)
        seen.add(element)
        check(item, type.item(), path + formatElement(element))
      })
    }
  }
  check(config, typing, '')
}

/** Returns the 500 error for a configuration that does not match the schema of its type. */
export function typedPatchError(info: Pick<ResourceInfo, 'group' | 'kind'>, named: JsonObject, detail: string): Error {
  return bareError(`failed to create typed patch object (${namedIn(info, named)}): ${detail}`)
}

/** Formats the namespace, name, apiVersion and kind of a configuration for error messages. */
export function namedIn(info: Pick<ResourceInfo, 'group' | 'kind'>, named: JsonObject): string {
  const { namespace, name } = isObject(named.metadata) ? named.metadata : {}
  const version = typeof named.apiVersion === 'string' ? named.apiVersion : ''
  const apiVersion = info.group === '' ? `/${version}` : version
  const key = `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`
  return `${key}; ${apiVersion}, Kind=${info.kind}`
}
