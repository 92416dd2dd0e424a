/**
 * ConfigMaps that writers create, update and delete. After the server is killed, a test compares them with the ConfigMaps of the restarted
 * server.
 */
import type { ConfigMap } from '../../../src/api/builtin.ts'
import { configMap } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'

/** The state of an object: its uid, resourceVersion and data, joined in one string; undefined when the object does not exist. */
type State = string | undefined

/** One object. At most one write of it is in flight. */
export class WrittenObject {
  readonly key: { readonly namespace: string; readonly name: string }
  /** The state after the last acknowledged write. */
  #acknowledged: State
  #revision = 0
  /** The pending write; undefined when no write is pending. `value` is the number that the write stores, or undefined for a deletion. */
  #attempt: { readonly value: number | undefined } | undefined

  constructor(name: string) {
    this.key = { namespace: 'default', name }
  }

  /** The resourceVersion of the last acknowledged write. */
  get revision(): number {
    return this.#revision
  }

  /** Writes the object once. Throws when the write is not acknowledged. */
  async write(client: Client, random: () => number, value: number): Promise<void> {
    const exists = this.#acknowledged !== undefined
    const deletes = exists && random() < 0.2
    this.#attempt = { value: deletes ? undefined : value }
    if (deletes) {
      await client.delete(configMap, this.key)
      this.#acknowledged = undefined
    } else {
      // The transaction of a large object has several pages in SQLite's log.
      const data = { value: String(value), text: 'x'.repeat(Math.floor(random() ** 4 * 50_000)), again: String(value) }
      const stored = exists
        ? await client.patch(configMap, this.key, { data })
        : await client.create(configMap, { metadata: this.key, data })
      this.#acknowledged = stateOf(stored)
      this.#revision = Number(stored.metadata.resourceVersion)
    }
    this.#attempt = undefined
  }

  /**
   * Compares the ConfigMap on the restarted server with the last acknowledged write and with the pending write. Returns an error message if
   * the ConfigMap matches neither write, or if the ConfigMap contains only a part of a write. In every case, the function stores the state
   * of the ConfigMap as the acknowledged state, and discards the pending write.
   *
   * @param object the ConfigMap on the restarted server; undefined if the ConfigMap does not exist.
   */
  found(object: ConfigMap | undefined): string | undefined {
    const state = stateOf(object)
    const [before, attempt] = [this.#acknowledged, this.#attempt]
    this.#acknowledged = state
    this.#attempt = undefined
    if (object !== undefined && object.data?.['value'] !== object.data?.['again']) return `${this.key.name} is torn: ${state}`
    if (state === before) return undefined
    const mayBe = attempt !== undefined && (object === undefined ? undefined : Number(object.data?.['value'])) === attempt.value
    return mayBe ? undefined : `${this.key.name} is ${state ?? 'missing'}, expected ${before ?? 'nothing'}`
  }
}

function stateOf(object: ConfigMap | undefined): State {
  if (object === undefined) return undefined
  const { uid, resourceVersion } = object.metadata
  return `value ${object.data?.['value']} with ${object.data?.['text']?.length} characters, uid ${uid}, resourceVersion ${resourceVersion}`
}
