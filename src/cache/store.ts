/** `Store`: the objects of one type by key, frozen, with indexes. */
import type { DeepReadonly } from '../api/json.ts'
import type { LabelRequirement } from '../api/label-selector.ts'
import { matchesLabels } from '../api/label-selector.ts'
import type { KubernetesObject, ObjectKey, ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'

/** Finds objects by something else than their key, e.g. Pods by their node. */
export interface Index<T extends KubernetesObject = KubernetesObject> {
  readonly name: string
  /** Must be pure: it is asked again for an object that leaves. */
  readonly keysOf: (object: DeepReadonly<T>) => readonly string[]
}

export interface StoreListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined
  readonly labels?: readonly LabelRequirement[]
}

export interface StoreOptions {
  /** Called when an index function throws; the object is then not in that index. */
  readonly onIndexError?: (index: string, key: ObjectKey, error: unknown) => void
}

type Entries<T> = Map<string, Map<string, DeepReadonly<T>>>

/** Reads take no copies: what they give is frozen and shared by all readers. */
export class Store<T extends KubernetesObject = KubernetesObject> {
  readonly #objects = new Map<string, DeepReadonly<T>>()
  readonly #byNamespace: Entries<T> = new Map()
  readonly #indexes = new Map<string, { readonly index: Index<T>; readonly entries: Entries<T> }>()
  readonly #onIndexError: NonNullable<StoreOptions['onIndexError']>

  constructor(options: StoreOptions = {}) {
    this.#onIndexError =
      options.onIndexError ??
      ((index, key, error) => process.emitWarning(`The index "${index}" failed for ${formatKey(key)}: ${String(error)}`))
  }

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#objects.get(formatKey(key))
  }

  list(options: StoreListOptions = {}): readonly DeepReadonly<T>[] {
    const { namespace, labels } = options
    const candidates = namespace === undefined || namespace === '' ? this.#objects : this.#byNamespace.get(namespace)
    const objects = candidates === undefined ? [] : [...candidates.values()]
    return labels === undefined || labels.length === 0
      ? objects
      : objects.filter((object) => matchesLabels(labels, metadataOf(object).labels))
  }

  /** @throws {RangeError} when there is no index of that name. */
  byIndex(name: string, key: string): readonly DeepReadonly<T>[] {
    const found = this.#indexes.get(name)
    if (found === undefined) throw new RangeError(`There is no index "${name}": add it before reading from it.`)
    return [...(found.entries.get(key)?.values() ?? [])]
  }

  /** Adds an index and fills it; the same index again changes nothing. */
  addIndex(index: Index<T>): void {
    const existing = this.#indexes.get(index.name)
    if (existing !== undefined) {
      if (existing.index.keysOf === index.keysOf) return
      throw new RangeError(`There is another index "${index.name}" already: choose a different name.`)
    }
    const entries: Entries<T> = new Map()
    this.#indexes.set(index.name, { index, entries })
    for (const [key, object] of this.#objects) for (const value of this.#keysOf(index, object)) insert(entries, value, key, object)
  }

  /** Puts a frozen object in the place of the one with its key, which is returned. */
  set(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const metadata = metadataOf(object)
    const key = formatKey(metadata)
    const previous = this.#remove(key)
    this.#objects.set(key, object)
    insert(this.#byNamespace, metadata.namespace ?? '', key, object)
    for (const { index, entries } of this.#indexes.values())
      for (const value of this.#keysOf(index, object)) insert(entries, value, key, object)
    return previous
  }

  /** Removes and returns the object with this key. */
  delete(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#remove(formatKey(key))
  }

  #remove(key: string): DeepReadonly<T> | undefined {
    const object = this.#objects.get(key)
    if (object === undefined) return undefined
    this.#objects.delete(key)
    drop(this.#byNamespace, metadataOf(object).namespace ?? '', key)
    for (const { index, entries } of this.#indexes.values()) for (const value of this.#keysOf(index, object)) drop(entries, value, key)
    return object
  }

  #keysOf(index: Index<T>, object: DeepReadonly<T>): readonly string[] {
    try {
      return index.keysOf(object)
    } catch (error) {
      this.#onIndexError(index.name, metadataOf(object), error)
      return []
    }
  }
}

/** The metadata of a stored object, whose own type the compiler does not see through. */
export function metadataOf(object: unknown): DeepReadonly<ObjectMeta> {
  return (object as DeepReadonly<KubernetesObject>).metadata
}

function insert<T>(entries: Entries<T>, value: string, key: string, object: DeepReadonly<T>): void {
  const found = entries.get(value)
  if (found === undefined) entries.set(value, new Map([[key, object]]))
  else found.set(key, object)
}

function drop<T>(entries: Entries<T>, value: string, key: string): void {
  const found = entries.get(value)
  found?.delete(key)
  if (found?.size === 0) entries.delete(value)
}
