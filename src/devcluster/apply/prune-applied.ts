/**
 * Removes the fields that the applier's previous configuration contains and that the current configuration does not contain. The two
 * configurations may have different versions.
 */
import type { JsonObject } from '../../api/json.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import type { AppliedType } from './applied-type.ts'
import { appliedFields } from './compare.ts'
import { versionTyping } from './compare-versions.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, fieldSet, intersection, isEmptySet, leafSet, union } from './field-set.ts'
import { removeFields, withNamedFields } from './remove-fields.ts'
import type { Typing } from './typing.ts'

/** The fields of one entry in managedFields, and the entry's apiVersion. */
interface Owned {
  readonly apiVersion: string
  readonly fields: FieldSet
}

export interface Pruning {
  readonly info: AppliedType
  readonly merged: JsonObject
  /** The fields that the applier owned before the request. */
  readonly last: Owned
  readonly next: Owned
  readonly others: readonly Owned[]
  /** Converts objects to other versions; undefined if every field has the same path in all versions. */
  readonly view: VersionView | undefined
}

/**
 * The field `metadata.name`. managedFields never contain this field, so the removal of fields can remove the whole `metadata`. An object
 * without `metadata` cannot be converted to another version. `pruneApplied` therefore adds `metadata.name` back before the first
 * conversion.
 */
const identity = fieldSet(false, [['f:metadata', fieldSet(false, [['f:name', leafSet]])]])

/**
 * Removes the fields that the applier no longer applies and that no other manager owns. Returns the resulting object in the version of
 * `next` (structured-merge-diff/merge: update.go, prune).
 */
export function pruneApplied({ info, merged, last, next, others, view }: Pruning): JsonObject {
  const isSameVersion = view === undefined || last.apiVersion === next.apiVersion
  if (isSameVersion && isEmptySet(difference(last.fields, next.fields))) return merged
  const inVersion = (object: JsonObject, version: string): JsonObject => view?.(object, version) ?? object
  const typingIn = (version: string): Typing | undefined => versionTyping(info, version, next)
  const typing = typingIn(last.apiVersion)
  // If the version of `last` no longer exists, the paths of `last.fields` in other versions are unknown. Therefore, no field is removed.
  if (typing === undefined) return merged
  const before = inVersion(merged, last.apiVersion)
  const dropped = withNamedFields(last.fields, typing)
  let pruned = removeFields(before, dropped, typing) as JsonObject
  const identified = { apiVersion: last.apiVersion, fields: identity }
  for (const [version, fields] of ownedByVersion([identified, next, ...others], last, view)) {
    const here = typingIn(version)
    if (here !== undefined) pruned = addBackOwned(inVersion(merged, version), inVersion(pruned, version), fields, here)
  }
  // `gone` can contain fields that the applier did not own. The intersection with `dropped` contains only fields that the applier owned.
  // `removeFields` also removes everything below these fields.
  const gone = difference(fieldsOf(before, typing), fieldsOf(inVersion(pruned, last.apiVersion), typing))
  return inVersion(removeFields(before, intersection(gone, dropped), typing) as JsonObject, next.apiVersion)
}

/**
 * Returns a map. The keys are the versions of the entries, and the value for a version is the union of the fields of all entries with this
 * version. If `view` is undefined, all entries count as entries with the version of `last`.
 *
 * `pruneApplied` adds the fields in the map back to the object, one version after the other. The version of `last` is first, because the
 * conversion of the object to the other versions may require the fields of this version.
 */
function ownedByVersion(all: readonly Owned[], last: Owned, view: VersionView | undefined): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet>()
  const versionOf = ({ apiVersion }: Owned): string => (view === undefined ? last.apiVersion : apiVersion)
  for (const one of [...all.filter(({ apiVersion }) => apiVersion === last.apiVersion), ...all]) {
    owned.set(versionOf(one), union(owned.get(versionOf(one)) ?? emptySet, one.fields))
  }
  return owned
}

/** Returns `whole` with only those fields that `pruned` or `owned` contains. The fields in `owned` are kept because a manager owns them. */
function addBackOwned(whole: JsonObject, pruned: JsonObject, owned: FieldSet, typing: Typing): JsonObject {
  const kept = union(fieldsOf(pruned, typing), withNamedFields(owned, typing))
  return removeFields(whole, difference(fieldsOf(whole, typing), kept), typing) as JsonObject
}

function fieldsOf(object: JsonObject, typing: Typing): FieldSet {
  return withNamedFields(appliedFields(object, typing), typing)
}
