/** Compares two states of an object, once for each version that occurs in its managedFields. */
import type { JsonObject } from '../../api/json.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import type { VersionView } from '../conversion-webhooks/across-versions.ts'
import type { AppliedType } from './applied-type.ts'
import type { Comparison } from './compare.ts'
import { compare } from './compare.ts'
import type { ManagerEntry, Writer } from './manager-entry.ts'
import { trackedPart } from './owned-part.ts'
import type { Typing } from './typing.ts'
import { typingOf } from './typing.ts'

/** Compares two states of an object in several versions. The result is cached for each version. */
export class Comparisons {
  readonly #info: AppliedType
  readonly #live: JsonObject | undefined
  readonly #object: JsonObject
  readonly #writer: Writer
  readonly #view: VersionView | undefined
  readonly #known = new Map<string, Comparison>()

  /** @param view converts objects to other versions; undefined if every field has the same path in all versions. */
  constructor(info: AppliedType, live: JsonObject | undefined, object: JsonObject, writer: Writer, view: VersionView | undefined) {
    this.#info = info
    this.#live = live
    this.#object = object
    this.#writer = writer
    this.#view = view
  }

  /**
   * Compares two states of the object: the live object and the new object, both in the `apiVersion` of a manager's entry. Returns undefined
   * when this version no longer exists.
   */
  of({ apiVersion }: Pick<ManagerEntry, 'apiVersion'>): Comparison | undefined {
    const view = this.#view
    const version = view === undefined ? this.#writer.apiVersion : apiVersion
    const typing = versionTyping(this.#info, version, this.#writer)
    if (typing === undefined) return undefined
    let comparison = this.#known.get(version)
    if (comparison === undefined) {
      const part = (object: JsonObject | undefined): JsonObject =>
        trackedPart(this.#info, object === undefined ? undefined : (view?.(object, version) ?? object), this.#writer.subresource)
      comparison = compare(part(this.#live), part(this.#object), typing)
      this.#known.set(version, comparison)
    }
    return comparison
  }
}

/** Returns the `Typing` of a resource type in a version; undefined when this version does not exist. */
export function versionTyping(info: AppliedType, apiVersion: string, writer: Pick<Writer, 'apiVersion'>): Typing | undefined {
  if (apiVersion === writer.apiVersion || info.schemaOf === undefined) return typingOf(info)
  const schema = info.schemaOf(parseApiVersion(apiVersion).version)
  return schema === undefined ? undefined : typingOf({ schema })
}
