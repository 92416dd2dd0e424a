/** Snapshots of all objects of an embedded cluster. Tests restore a snapshot between their cases. */
import { ProreusError } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import { jsonEqual } from '../api/json.ts'
import type { ObjectKey } from '../api/object.ts'
import { textAt } from './apimachinery/unstructured.ts'
import { definitionsKey } from './crd/custom-resource-definitions.ts'
import type { ObjectStore } from './storage/object-store.ts'
import { withRevision } from './storage/object-store.ts'

/** All objects of a cluster at a point in time. */
export interface ClusterSnapshot {
  /** The resourceVersion of the cluster at the time of the snapshot. A list at that time returns this resourceVersion. */
  readonly resourceVersion: string
}

/** The objects of one type, keyed by namespace and name. */
type Objects = ReadonlyMap<string, JsonObject>

export class Snapshots {
  readonly #store: ObjectStore
  readonly #contents = new WeakMap<ClusterSnapshot, ReadonlyMap<string, Objects>>()
  readonly #listeners: (() => void)[] = []

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** Calls `listener` before the writes of each restore. */
  onRestore(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async take(): Promise<ClusterSnapshot> {
    await this.#store.committed()
    const snapshot = Object.freeze({ resourceVersion: String(this.#store.revision) })
    this.#contents.set(snapshot, contentsOf(this.#store))
    return snapshot
  }

  /**
   * Restores all objects, without admission. Resolves when all writes are committed.
   *
   * - An object that is not in the snapshot is deleted.
   * - An unchanged object keeps its resourceVersion.
   * - A changed or deleted object is restored with a new resourceVersion.
   *
   * @throws {ProreusError} `PRO_INPUT` when the snapshot was taken from another cluster.
   */
  async restore(snapshot: ClusterSnapshot): Promise<void> {
    const wanted = this.#contents.get(snapshot)
    if (wanted === undefined) throw new ProreusError('PRO_INPUT', 'The snapshot is one of another cluster: restore it there.')
    await this.#store.committed()
    for (const listener of this.#listeners) listener()
    const found = contentsOf(this.#store)
    // A CRD is created before its custom resources. Custom resources are deleted before their CRD.
    const types = [...new Set([definitionsKey, ...wanted.keys(), ...found.keys()])]
    const deletions = types.toReversed().flatMap((type) => this.#deleteOthers(type, found.get(type), wanted.get(type)))
    const writes = types.flatMap((type) => this.#putBack(type, found.get(type), wanted.get(type)))
    await Promise.all([...deletions, ...writes])
  }

  #deleteOthers(type: string, found: Objects = new Map(), wanted: Objects = new Map()): Promise<unknown>[] {
    const others = [...found].filter(([key]) => !wanted.has(key))
    return others.map(([, object]) => this.#store.delete(type, keyOf(object), object))
  }

  #putBack(type: string, found: Objects = new Map(), wanted: Objects = new Map()): Promise<unknown>[] {
    const changed = [...wanted].filter(([key, object]) => !isSame(object, found.get(key)))
    return changed.map(([key, object]) => this.#store.put(type, keyOf(object), object, found.get(key)))
  }
}

function contentsOf(store: ObjectStore): ReadonlyMap<string, Objects> {
  return new Map(
    store.storageKeys().map((storageKey) => {
      const { keys, get } = store.snapshot(storageKey)
      return [storageKey, new Map(keys.map((key) => [key, get(key)!]))]
    }),
  )
}

/** True when two objects are equal except for the resourceVersion. An earlier restore may have changed the resourceVersion. */
function isSame(wanted: JsonObject, found: JsonObject | undefined): boolean {
  return found === wanted || (found !== undefined && jsonEqual(withRevision(found, 0), withRevision(wanted, 0)))
}

function keyOf(object: JsonObject): ObjectKey {
  return { namespace: textAt(object, 'metadata', 'namespace'), name: textAt(object, 'metadata', 'name') }
}
