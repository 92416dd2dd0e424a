/** `ServerHistory`: all states that the objects of a type have had on an API server, recorded by a watch without faults. */
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject, ObjectKey } from '../../../src/api/object.ts'
import { formatKey } from '../../../src/api/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { until } from '../../../src/testing/until.ts'

/** The state of one object key at one resourceVersion: the object that has the key, or no object. */
export interface State {
  readonly resourceVersion: string
  /** Undefined when no object has the key. */
  readonly object: KubernetesObject | undefined
}

const noObject: State = { resourceVersion: '0', object: undefined }

export class ServerHistory {
  readonly #client: Client
  readonly #type: ResourceType<KubernetesObject>
  readonly #states = new Map<string, State[]>()

  /** @param client sends all requests of this class. No faults are injected into these requests. */
  constructor(client: Client, type: ResourceType<KubernetesObject>) {
    this.#client = client
    this.#type = type
  }

  /** Records the states of all objects from now on, until the signal aborts. Resolves when the recording has begun. */
  async start(signal: AbortSignal): Promise<void> {
    const { items, metadata } = await this.#client.list(this.#type)
    for (const item of items) this.#add(item, item)
    const resourceVersion = metadata.resourceVersion!
    const watch = async (): Promise<void> => {
      // The time limit is longer than any run.
      const options = { resourceVersion, timeoutSeconds: 3600, signal }
      for await (const { type, object } of this.#client.watch(this.#type, options))
        this.#add(object, type === 'DELETED' ? undefined : object)
      throw new Error('The watch of the history has ended.')
    }
    // If the watch fails, the history is incomplete, and `complete` rejects.
    watch().catch(() => undefined)
  }

  /**
   * Resolves when the history contains every state that the server had before the call. `key` is the key of an object that only this
   * history writes.
   */
  async complete(key: ObjectKey): Promise<void> {
    const marker = await this.#client.apply(this.#type, { metadata: key, data: { at: String(performance.now()) } } as never)
    await until('the history is complete', () => this.of(key).at(-1)?.resourceVersion === marker.metadata.resourceVersion)
  }

  /** Returns the states of the object with this key, oldest first. In the first state, the object does not exist. */
  of(key: ObjectKey): readonly State[] {
    return this.#states.get(formatKey(key)) ?? [noObject]
  }

  #add({ metadata }: KubernetesObject, object: KubernetesObject | undefined): void {
    const { namespace, name, resourceVersion } = metadata
    const key = formatKey({ namespace, name })
    const states = this.#states.get(key) ?? [noObject]
    states.push({ resourceVersion, object })
    this.#states.set(key, states)
  }
}
