/**
 * Replaces or removes values that differ between two executions of the same life. A life is a list of steps that create, change and delete
 * a workload.
 *
 * These values are replaced by placeholders:
 *
 * - uids: the placeholder contains the kind and the name of the object
 * - times
 * - the random suffix of a generated name, or of the name of a Pod's token volume
 * - the hash of a Pod template or revision: `<hash 1>` is the first hash
 * - the minutes in the name of a CronJob's Job
 * - IP addresses of Pods and Services
 * - node ports
 * - the namespace
 * - the names of the nodes on which the Pods of DaemonSets run: kube-controller-manager creates these Pods in random order of the nodes
 *
 * ResourceVersions are removed. `managedFields` are reduced to the managers with their operations and subresources.
 */
import { getOwn, isObject, setOwn } from '../../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { generated, rfc3339, uuid } from '../normalise.ts'
import { valueAt } from '../path.ts'

const hashLabels = ['pod-template-hash', 'controller-revision-hash']

/**
 * A life is a list of steps that create, change and delete a workload. An instance of this class stores the uids, the hashes and the
 * generated names that one control plane has given to the objects of one life.
 */
export class GivenNames {
  readonly #uids = new Map<string, string>()
  readonly #generated = new Map<string, string>()
  readonly #hashes = new Map<string, string>()
  readonly #namespace: string

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /**
   * Stores the uid, the hashes and the generated name of an object, so that `text` and `value` can replace them. The objects of one
   * workload must be passed in the order of their creation, because the placeholders of the hashes are numbered in this order.
   */
  learn(object: JsonObject): void {
    const { kind, metadata } = object
    if (!isObject(metadata)) return
    const [name, prefix] = [String(metadata.name), metadata.generateName]
    if (typeof prefix === 'string' && name.startsWith(prefix) && generated.test(name.slice(prefix.length)))
      this.#generated.set(name, `${prefix}<random>`)
    for (const label of hashLabels) {
      const hash = valueAt(metadata, `labels.${label}`)
      if (typeof hash === 'string') this.#learnHash(hash.slice(hash.lastIndexOf('-') + 1))
    }
    this.#uids.set(String(metadata.uid), `<uid of ${String(kind)} ${this.text(name)}>`)
  }

  #learnHash(hash: string): void {
    if (!this.#hashes.has(hash)) this.#hashes.set(hash, `<hash ${this.#hashes.size + 1}>`)
  }

  /** Returns the kind of the object, followed by its name with placeholders. */
  keyOf({ kind, metadata }: JsonObject): string {
    return `${String(kind)} ${this.text(isObject(metadata) ? String(metadata.name) : '')}`
  }

  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.value(item))
    if (!isObject(value)) return value
    const result: JsonObject = {}
    for (const [key, item] of Object.entries(value)) {
      if (key === 'resourceVersion') continue
      if (key === 'managedFields' && Array.isArray(item)) setOwn(result, 'managers', managers(item))
      else if (key === 'nodePort') setOwn(result, key, '<node port>')
      else setOwn(result, this.text(key), this.value(item ?? null))
    }
    return result
  }

  text(text: string): string {
    let result = text.replaceAll(uuid, (uid) => this.#uids.get(uid) ?? '<uid>')
    for (const [name, normal] of this.#generated) result = result.replaceAll(name, normal)
    for (const [hash, normal] of this.#hashes) result = result.replaceAll(hash, normal)
    return result
      .replaceAll(this.#namespace, '<namespace>')
      .replaceAll(rfc3339, '<time>')
      .replaceAll(/-\d{8}\b/g, '-<minutes>')
      .replaceAll(/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-<random>')
      .replaceAll(/\bdaemon-\d\b/g, 'daemon-<any>')
      .replaceAll(/\b10\.96\.\d+\.\d+\b/g, '<cluster IP>')
      .replaceAll(/\b10\.244\.\d+\.\d+\b/g, '<Pod IP>')
  }
}

function managers(entries: readonly JsonValue[]): JsonValue {
  const names = entries.map((entry) =>
    ['manager', 'operation', 'subresource']
      .map((key) => (isObject(entry) ? getOwn(entry, key) : undefined))
      .filter((part) => part !== undefined)
      .join(' '),
  )
  return [...new Set(names)].sort()
}
