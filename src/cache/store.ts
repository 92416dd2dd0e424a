/** `Store`: the frozen objects of one type or view, which can be found by key, by namespace and by indexes. */
import { ProreusError } from '../api/errors.ts'
import type { DeepReadonly } from '../api/json.ts'
import { quote } from '../api/field-error.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'
import type { KubernetesObject, ObjectKey, ObjectMeta } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { expect, hasOptions, isAnything, isText, refuseOptions } from '../api/option-checks.ts'

/** Finds objects by a key that is derived from their content, e.g. Pods by their node. */
export interface Index<T extends KubernetesObject = KubernetesObject> {
  /** The name of the index in log and error messages. */
  readonly name: string
  /**
   * Returns one key, several keys or none. The function must be pure: when the object is replaced or removed, the function is called again
   * with the old object, and must return the same keys as before.
   */
  keysOf(object: DeepReadonly<T>): string | readonly string[] | undefined
}

/** Selects the objects that match all options. */
export interface StoreListOptions<T extends KubernetesObject = KubernetesObject> {
  /** The namespace of the objects; all namespaces when absent or empty. */
  readonly namespace?: string | undefined
  /** Selects the objects whose labels match. When absent or empty, all objects match. */
  readonly labelSelector?: LabelSelector
  /** Selects the objects that have this key in the index. */
  readonly index?: readonly [index: Index<T>, key: string]
}

const checkList = hasOptions({
  namespace: isText,
  labelSelector: isAnything,
  index: expect('a list of an index and a key', (value) => Array.isArray(value) && value.length === 2),
} satisfies Record<keyof StoreListOptions, OptionCheck>)

export interface StoreOptions {
  /** Called when `keysOf` of an index throws for an object; the object is then not in that index. */
  readonly onIndexError?: (index: string, key: ObjectKey, error: unknown) => void
}

/** Maps each index key to the objects that have this key. */
type Entries<T> = Map<string, Set<DeepReadonly<T>>>

/** Stores frozen objects. All callers get the same frozen objects, so reads copy nothing. */
export class Store<T extends KubernetesObject = KubernetesObject> {
  /** The objects by namespace and name. The namespace of a cluster-scoped object is empty. */
  readonly #objects = new Map<string, Map<string, DeepReadonly<T>>>()
  #size = 0
  readonly #indexes = new Map<Index<T>, Entries<T>>()
  readonly #onIndexError: NonNullable<StoreOptions['onIndexError']>

  constructor(options: StoreOptions = {}) {
    this.#onIndexError =
      options.onIndexError ??
      ((index, key, error) => process.emitWarning(`The index "${index}" failed for ${formatKey(key)}: ${String(error)}`))
  }

  get size(): number {
    return this.#size
  }

  get({ namespace, name }: ObjectKey): DeepReadonly<T> | undefined {
    return this.#objects.get(namespace ?? '')?.get(name)
  }

  /**
   * Returns the objects that match all options.
   *
   * @throws {ProreusError} `PRO_INPUT` when the index was never added or the label selector is invalid; `PRO_CONFIG_INVALID` for an invalid
   * or unknown option.
   */
  list(options: StoreListOptions<T> = {}): readonly DeepReadonly<T>[] {
    // This check rejects unknown options. Without the check, a misspelled `namespace` would be ignored, and the list would contain the
    // objects of all namespaces.
    refuseOptions('cache.list', checkList(options, ''))
    const { namespace, labelSelector, index } = options
    const everywhere = namespace === undefined || namespace === ''
    const inNamespace = everywhere ? undefined : (this.#objects.get(namespace) ?? none)
    const indexed = index === undefined ? undefined : this.#indexed(...index)
    const objects = inNamespace === undefined ? [...(indexed ?? this.#all())] : inBoth(inNamespace, indexed)
    const labels = labelSelector === undefined ? [] : checkedRequirements(labelSelector)
    return labels.length === 0 ? objects : objects.filter((object) => matchesLabels(labels, metadataOf(object).labels))
  }

  /** Adds an index, and enters all stored objects in the index. Adding the same index again has no effect. */
  addIndex(index: Index<T>): void {
    if (this.#indexes.has(index)) return
    const entries: Entries<T> = new Map()
    this.#indexes.set(index, entries)
    for (const object of this.#all()) for (const value of this.#keysOf(index, object)) insert(entries, value, object)
  }

  /** Stores a frozen object. Returns the previous object with the same key; undefined when the store had no such object. */
  set(object: DeepReadonly<T>): DeepReadonly<T> | undefined {
    const { namespace = '', name } = metadataOf(object)
    let named = this.#objects.get(namespace)
    if (named === undefined) this.#objects.set(namespace, (named = new Map()))
    const previous = named.get(name)
    named.set(name, object)
    if (previous === undefined) this.#size += 1
    for (const [index, entries] of this.#indexes) {
      if (previous !== undefined) for (const value of this.#keysOf(index, previous)) drop(entries, value, previous)
      for (const value of this.#keysOf(index, object)) insert(entries, value, object)
    }
    return previous
  }

  /** Removes the object with this key. Returns the removed object; undefined when the store had no such object. */
  delete({ namespace = '', name }: ObjectKey): DeepReadonly<T> | undefined {
    const named = this.#objects.get(namespace)
    const object = named?.get(name)
    if (named === undefined || object === undefined) return undefined
    named.delete(name)
    if (named.size === 0) this.#objects.delete(namespace)
    this.#size -= 1
    for (const [index, entries] of this.#indexes) for (const value of this.#keysOf(index, object)) drop(entries, value, object)
    return object
  }

  *#all(): Generator<DeepReadonly<T>> {
    for (const named of this.#objects.values()) yield* named.values()
  }

  #indexed(index: Index<T>, key: string): ReadonlySet<DeepReadonly<T>> {
    const entries = this.#indexes.get(index)
    if (entries !== undefined) return entries.get(key) ?? noObjects
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
 * Returns the metadata of a Kubernetes object. The function is for code in which the type of the object is a type parameter. In such code,
 * the compiler does not know the type of `metadata`.
 */
export function metadataOf(object: unknown): DeepReadonly<ObjectMeta> {
  return (object as DeepReadonly<KubernetesObject>).metadata
}

const none: ReadonlyMap<string, never> = new Map<string, never>()
const noObjects: ReadonlySet<never> = new Set<never>()

/**
 * Returns the objects that are in both `inNamespace` and `indexed`. If `indexed` is undefined, returns all objects in `inNamespace`. The
 * loop iterates over the smaller collection.
 *
 * @param inNamespace the objects of one namespace, keyed by name
 * @param indexed objects of all namespaces
 */
function inBoth<T extends KubernetesObject>(
  inNamespace: ReadonlyMap<string, DeepReadonly<T>>,
  indexed: ReadonlySet<DeepReadonly<T>> | undefined,
): DeepReadonly<T>[] {
  if (indexed === undefined) return [...inNamespace.values()]
  if (inNamespace.size < indexed.size) return [...inNamespace.values()].filter((object) => indexed.has(object))
  return [...indexed].filter((object) => inNamespace.get(metadataOf(object).name) === object)
}

function insert<T>(entries: Entries<T>, value: string, object: DeepReadonly<T>): void {
  const found = entries.get(value)
  if (found === undefined) entries.set(value, new Set([object]))
  else found.add(object)
}

function drop<T>(entries: Entries<T>, value: string, object: DeepReadonly<T>): void {
  const found = entries.get(value)
  found?.delete(object)
  if (found?.size === 0) entries.delete(value)
}
