/** Server-side apply: a configuration becomes part of an object, and its fields become the applier's. */
import { formatTime } from '../../api/conditions.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { quote } from '../../api/field-error.ts'
import { applyConflict, bareError } from '../registry/status-error.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { appliedFields, compare } from './compare.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, formatElement, intersection, isEmptySet, pathsOf, union } from './field-set.ts'
import type { ManagerEntry, Writer } from './managed-fields.ts'
import { readManagers, sameManager, trackedPart, untouched, writeManagers } from './managed-fields.ts'
import { mergeConfig, pruneFields } from './merge.ts'
import type { Typing } from './typing.ts'
import { elementOf, typingOf } from './typing.ts'

export interface ApplyRequest {
  readonly info: ResourceInfo
  /** The object as it is, in the version of `info`; undefined: it will be created. */
  readonly live: JsonObject | undefined
  readonly config: JsonObject
  readonly force: boolean
  readonly writer: Writer
}

/**
 * The live object with the configuration applied and `managedFields` brought up to date.
 * Throws a 409 `StatusError` when another manager owns a field that would change, unless forced.
 */
export function applyConfiguration({ info, live, config, force, writer }: ApplyRequest): JsonObject {
  const typing = typingOf(info)
  checkLists(info, config, typing)
  const claimed = claimedFields(info, trackedPart(info, config, writer.subresource), typing)

  const managers = live === undefined ? [] : managersBefore(info, live, typing)
  const own = managers.find((entry) => sameManager(entry, writer))
  const others = managers.filter((entry) => !sameManager(entry, writer))

  const base = live ?? startOf(config)
  const merged = mergeConfig(base, withoutManagedFields(config), typing) as JsonObject
  const before = live === undefined ? untouched(info) : trackedPart(info, live, writer.subresource)
  const { changed } = compare(before, trackedPart(info, merged, writer.subresource), typing)
  const conflicts = others
    .map((entry) => ({ entry, fields: intersection(entry.fields, changed) }))
    .filter(({ fields }) => !isEmptySet(fields))
  if (conflicts.length > 0 && !force) throw conflictError(conflicts)

  const left = others.map((entry) => ({ ...entry, fields: difference(entry.fields, changed) }))
  const ownedByOthers = left.reduce((all, entry) => union(all, entry.fields), emptySet)
  const pruned = own === undefined ? merged : (pruneFields(merged, own.fields, claimed, ownedByOthers, typing) as JsonObject)
  // What went with a pruned parent belongs to nobody any more.
  const { removed } = compare(trackedPart(info, merged, writer.subresource), trackedPart(info, pruned, writer.subresource), typing)
  const kept = left.map((entry) => ({ ...entry, fields: difference(entry.fields, removed) }))

  const unchanged = own !== undefined && isEmptySet(difference(own.fields, claimed)) && isEmptySet(difference(claimed, own.fields))
  const time = unchanged && isEmptySet(changed) ? own.time : formatTime(writer.now)
  const managedFields = writeManagers([...kept, { ...writer, time, fields: claimed }])
  return { ...pruned, metadata: { ...(isObject(pruned.metadata) ? pruned.metadata : {}), managedFields } }
}

/** The fields that a configuration claims; that it has metadata, or an empty built-in spec or status, claims nothing. */
function claimedFields(info: ResourceInfo, wanted: JsonObject, typing: Typing): FieldSet {
  const claimsNothing = info.custom ? ['metadata'] : ['metadata', 'spec', 'status']
  const given = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => !(claimsNothing.includes(key) && isObject(value) && Object.keys(value).length === 0)),
  )
  if (Object.keys(given).length === 0) return emptySet
  return { ...appliedFields(given, typing), member: false }
}

function managersBefore(info: ResourceInfo, live: JsonObject, typing: Typing): ManagerEntry[] {
  const managers = readManagers(isObject(live.metadata) ? live.metadata.managedFields : undefined)
  if (managers.length > 0) return managers
  // Somebody wrote this object, and was not recorded.
  const apiVersion = typeof live.apiVersion === 'string' ? live.apiVersion : ''
  const { changed } = compare(untouched(info), trackedPart(info, live, ''), typing)
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, subresource: '', time: undefined, fields: changed }]
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
  if (entry.operation === 'Apply') return name
  return entry.time === undefined ? `${name} using ${entry.apiVersion}` : `${name} using ${entry.apiVersion} at ${entry.time}`
}

/** A configuration must say of each list item which one it is, and say it once. */
function checkLists(info: ResourceInfo, config: JsonObject, typing: Typing): void {
  const check = (value: JsonValue, type: Typing, path: string): void => {
    if (isObject(value)) {
      if (type.atomicMap) return
      for (const [key, field] of Object.entries(value)) if (field !== undefined) check(field, type.field(key), `${path}.${key}`)
    } else if (Array.isArray(value) && type.list !== 'atomic') {
      const seen = new Set<string>()
      value.forEach((item, index) => {
        const element = elementOf(item, type)
        if (element === undefined) {
          const keys = type.keys.map(quote).join(', ')
          throw typedPatchError(
            info,
            config,
            `${path}: element ${index}: associative list with keys has an element that omits key field ${keys}`,
          )
        }
        if (seen.has(element)) throw typedPatchError(info, config, `${path}: duplicate entries for key ${formatElement(element)}`)
        seen.add(element)
        check(item, type.item(), path + formatElement(element))
      })
    }
  }
  check(config, typing, '')
}

/** 500, as the API server answers a configuration that does not fit the type's schema. */
export function typedPatchError(info: ResourceInfo, config: JsonObject, detail: string): Error {
  const { namespace, name } = isObject(config.metadata) ? config.metadata : {}
  const apiVersion = typeof config.apiVersion === 'string' ? config.apiVersion : ''
  const key = `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`
  return bareError(`failed to create typed patch object (${key}; ${apiVersion}, Kind=${info.kind}): ${detail}`)
}
