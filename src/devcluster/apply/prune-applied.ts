/** Takes out of an object what its applier applied before and applies no longer, whichever the versions in which that was said. */
import type { JsonObject } from '../../api/json.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { appliedFields } from './compare.ts'
import { versionTyping } from './comparisons.ts'
import type { FieldSet } from './field-set.ts'
import { difference, emptySet, union } from './field-set.ts'
import { pruneFields } from './merge.ts'
import { trackedPart } from './owned-part.ts'
import type { Typing } from './typing.ts'
import { typingOf } from './typing.ts'

/** What somebody owns, in the version in which it is said. */
interface Owned {
  readonly apiVersion: string
  readonly fields: FieldSet
}

export interface Pruning {
  readonly info: ResourceInfo
  readonly merged: JsonObject
  /** What the applier owned before, and now. */
  readonly last: Owned
  readonly next: Owned
  readonly others: readonly Owned[]
  /** Without one, fields are the same in all versions. */
  readonly view: VersionView | undefined
}

/** In the version of `next`, as `merged` is. */
export function pruneApplied({ info, merged, last, next, others, view }: Pruning): JsonObject {
  const all = (owned: readonly Owned[]): FieldSet => owned.reduce((fields, one) => union(fields, one.fields), emptySet)
  if (view === undefined) return pruneFields(merged, last.fields, next.fields, all(others), typingOf(info)) as JsonObject
  const typingIn = (version: string): Typing | undefined => versionTyping(info, version, next)
  const typing = typingIn(last.apiVersion)
  // What was applied in a version that is no more, nobody knows.
  if (typing === undefined) return merged
  const before = view(merged, last.apiVersion)
  const sameVersion = (owned: readonly Owned[]): readonly Owned[] => owned.filter(({ apiVersion }) => apiVersion === last.apiVersion)
  let pruned = pruneFields(before, last.fields, all(sameVersion([next])), all(sameVersion(others)), typing) as JsonObject
  const versions = new Set([...others, next].map(({ apiVersion }) => apiVersion).filter((version) => version !== last.apiVersion))
  for (const version of versions) {
    const here = typingIn(version)
    if (here === undefined) continue
    const [full, left] = [view(merged, version), view(pruned, version)]
    const fieldsOf = (object: JsonObject): FieldSet => appliedFields(trackedPart(info, object, ''), here)
    const owned = all([...others, next].filter(({ apiVersion }) => apiVersion === version))
    pruned = pruneFields(full, difference(fieldsOf(full), fieldsOf(left)), owned, emptySet, here) as JsonObject
  }
  return view(pruned, next.apiVersion)
}
