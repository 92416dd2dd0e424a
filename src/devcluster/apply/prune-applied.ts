/** Takes out of an object what its applier applied before and applies no longer, whichever the versions in which that was said. */
import type { JsonObject } from '../../api/json.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import type { AppliedType } from './server-side-apply.ts'
import { appliedFields } from './compare.ts'
import { versionTyping } from './comparisons.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, fieldSet, intersection, isEmptySet, leafSet, union } from './field-set.ts'
import { removeFields, withNamedFields } from './remove-fields.ts'
import type { Typing } from './typing.ts'

/** What somebody owns, in the version in which it is said. */
interface Owned {
  readonly apiVersion: string
  readonly fields: FieldSet
}

export interface Pruning {
  readonly info: AppliedType
  readonly merged: JsonObject
  /** What the applier owned before, and now. */
  readonly last: Owned
  readonly next: Owned
  readonly others: readonly Owned[]
  /** Without one, fields are the same in all versions. */
  readonly view: VersionView | undefined
}

/** Every configuration names its object: its applier has a part in the metadata, of which nobody owns the name. */
const identity = fieldSet(false, [['f:metadata', fieldSet(false, [['f:name', leafSet]])]])

/** In the version of `next`, as `merged` is (structured-merge-diff `merge/update.go`: prune). */
export function pruneApplied({ info, merged, last, next, others, view }: Pruning): JsonObject {
  const isSameVersion = view === undefined || last.apiVersion === next.apiVersion
  if (isSameVersion && isEmptySet(difference(last.fields, next.fields))) return merged
  const inVersion = (object: JsonObject, version: string): JsonObject => view?.(object, version) ?? object
  const typingIn = (version: string): Typing | undefined => versionTyping(info, version, next)
  const typing = typingIn(last.apiVersion)
  // What was applied in a version that is no more, nobody knows.
  if (typing === undefined) return merged
  const before = inVersion(merged, last.apiVersion)
  const dropped = withNamedFields(last.fields, typing)
  let pruned = removeFields(before, dropped, typing) as JsonObject
  for (const [version, fields] of ownedByVersion([{ ...next, fields: union(next.fields, identity) }, ...others], last, view)) {
    const here = typingIn(version)
    if (here !== undefined) pruned = addBackOwned(inVersion(merged, version), inVersion(pruned, version), fields, here)
  }
  // What its applier never owned goes only with something above it that the applier did own.
  const gone = difference(fieldsOf(before, typing), fieldsOf(inVersion(pruned, last.apiVersion), typing))
  return inVersion(removeFields(before, intersection(gone, dropped), typing) as JsonObject, next.apiVersion)
}

/** What anybody owns, by the versions in which that is said: the one of `last` first, as other versions may need its fields to be converted. */
function ownedByVersion(all: readonly Owned[], last: Owned, view: VersionView | undefined): ReadonlyMap<string, FieldSet> {
  const owned = new Map<string, FieldSet>()
  const versionOf = ({ apiVersion }: Owned): string => (view === undefined ? last.apiVersion : apiVersion)
  for (const one of [...all.filter(({ apiVersion }) => apiVersion === last.apiVersion), ...all]) {
    owned.set(versionOf(one), union(owned.get(versionOf(one)) ?? emptySet, one.fields))
  }
  return owned
}

/** The whole object without what is gone from the pruned one and belongs to nobody. */
function addBackOwned(whole: JsonObject, pruned: JsonObject, owned: FieldSet, typing: Typing): JsonObject {
  const kept = union(fieldsOf(pruned, typing), withNamedFields(owned, typing))
  return removeFields(whole, difference(fieldsOf(whole, typing), kept), typing) as JsonObject
}

function fieldsOf(object: JsonObject, typing: Typing): FieldSet {
  return withNamedFields(appliedFields(object, typing), typing)
}
