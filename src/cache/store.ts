/** `Store`: the frozen objects of one type, which can be found by key, by namespace and by indexes. */
import { ProreusError } from '../api/errors.ts'
import type { DeepReadonly } from '../api/json.ts'
import { quote } from '../api/field-error.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'
import type { KubernetesObject, ObjectKey, ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'

/** Finds objects by a key that is derived from their content, e.g. Pods by their node. */
export interface Index<T extends KubernetesObject = KubernetesObject> {
  /** The name of the index in log and error messages. */
  readonly name: string
  /**
   * Returns one key, several keys or none. It must be pure: it is called again when the object is removed, and must then return the same
   * keys.
   */
  keysOf(object: DeepReadonly<T>): string | readonly string[] | undefined
}

/** Selects the objects that match all options. */
export interface StoreListOptions<T extends KubernetesObject = KubernetesObject> {
  /** The namespace of the objects; all namespaces when absent or empty. */
  readonly namespace?: string | undefined
  /** Matches the labels of the objects; when absent or empty, it matches all objects. */
  readonly labelSelector?: LabelSelector
  /** Selects the objects that have this key in the index. */
  readonly index?: readonly [index: Index<T>, key: string]
}

export interface StoreOptions {
  /** Called when `keysOf` of an index throws for an object; the object is then not in that index. */
  readonly onIndexError?: (index: string, key: ObjectKey, error: unknown) => void
}

/** Objects, each under its key `namespace/name`. */
type Objects<T> = ReadonlyMap<string, DeepReadonly<T>>
type Entries<T> = Map<string, Map<string, DeepReadonly<T>>>

/** Stores frozen objects. All callers get the same frozen objects, so reads copy nothing. */
export class Store<T extends KubernetesObject = KubernetesObject> {
  readonly #objects = new Map<string, DeepReadonly<T>>()
  readonly #byNamespace: Entries<T> = new Map()
  readonly #indexes = new Map<Index<T>, Entries<T>>()
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

  /**
   * Returns the objects that match all options.
   *
   * @throws {ProreusError} `PRO_INPUT` when the index was never added, or the label selector is invalid.
   */
  list(options: StoreListOptions<T> = {}): readonly DeepReadonly<T>[] {
    const { namespace, labelSelector, index } = options
    const inNamespace = namespace === undefined || namespace === '' ? this.#objects : (this.#byNamespace.get(namespace) ?? none)
    const objects = index === undefined ? [...inNamespace.values()] : inBoth(inNamespace, this.#indexed(...index))
    const labels = labelSelector === undefined ? [] : checkedRequirements(labelSelector)
    return labels.length === 0 ? objects : objects.filter((object) => matchesLabels(labels, metadataOf(object).labels))
  }

  /** Adds an index and fills it; adding it again has no effect. */
  addIndex(index: Index<T>): void {
    if (this.#indexes.has(index)) return
    const entries: Entries<T> = new Map()
    this.#indexes.set(index, entries)
    for (const [key, object] of this.#objects) for (const value of this.#keysOf(index, object)) insert(entries, value, key, object)
  }

  /** Stores a frozen object. Returns the previous object with the same key; undefined if there was none. */
  set(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const metadata = metadataOf(object)
    const key = formatKey(metadata)
    const previous = this.#remove(key)
    this.#objects.set(key, object)
    insert(this.#byNamespace, metadata.namespace ?? '', key, object)
    for (const [index, entries] of this.#indexes) for (const value of this.#keysOf(index, object)) insert(entries, value, key, object)
    return previous
  }

  /** Removes the object with this key, and returns it. */
  delete(key: ObjectKey): DeepReadonly<T> | undefined {
    return this.#remove(formatKey(key))
  }

  #remove(key: string): DeepReadonly<T> | undefined {
    const object = this.#objects.get(key)
    if (object === undefined) return undefined
    this.#objects.delete(key)
    drop(this.#byNamespace, metadataOf(object).namespace ?? '', key)
    for (const [index, entries] of this.#indexes) for (const value of this.#keysOf(index, object)) drop(entries, value, key)
    return object
  }

  #indexed(index: Index<T>, key: string): Objects<T> {
    const entries = this.#indexes.get(index)
    if (entries !== undefined) return entries.get(key) ?? none
    const advice = 'declare it in the `indexes` of the controller or webhook that reads by it'
    throw new ProreusError('PRO_INPUT', `The cache does not keep the index ${quote(index.name)}: ${advice}.`)
  }

  #keysOf(index: Index<T>, object: DeepReadonly<T>): readonly string[] {
    try {
      const keys = index.keysOf(object)
      return typeof keys === 'string' ? [keys] : (keys ?? [])
    } catch (error) {
      this.#onIndexError(index.name, metadataOf(object), error)
      return []
    }
  }
}

/**
 * Returns the metadata of a Kubernetes object. It is for objects whose type is a type parameter: the compiler does not know the type of
 * their `metadata`.
 */
export function metadataOf(object: unknown): DeepReadonly<ObjectMeta> {
  return (object as DeepReadonly<KubernetesObject>).metadata
}

const none: ReadonlyMap<string, never> = new Map<string, never>()

/**
 * Returns the objects that are in both maps. One map contains the objects with an index key, in all namespaces. The other one contains all
 * objects of one namespace. Either map may be the larger one, so the loop is over the smaller one.
 */
function inBoth<T>(a: Objects<T>, b: Objects<T>): DeepReadonly<T>[] {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  const objects: DeepReadonly<T>[] = []
  for (const [key, object] of few) if (many.has(key)) objects.push(object)
  return objects
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
