/** A client whose responses to list and watch requests are scripted. */
import type { KubernetesObject } from '../../../src/api/object.ts'
import type { Client, ListOptions, WatchEvent, WatchOptions } from '../../../src/client/client.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'

export function object(
  name: string,
  resourceVersion: string | number,
  more: { namespace?: string; uid?: string; labels?: Record<string, string>; [field: string]: unknown } = {},
): KubernetesObject {
  const { namespace = 'default', uid = `uid-${name}`, labels, ...rest } = more
  const metadata = {
    name,
    namespace,
    uid,
    resourceVersion: String(resourceVersion),
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(labels === undefined ? {} : { labels }),
  }
  return { apiVersion: 'example.com/v1', kind: 'Widget', ...rest, metadata }
}

/** The response to one list request. If it is an error, the request fails with this error. */
export type ListAnswer = Error | { readonly items: KubernetesObject[]; readonly resourceVersion?: string; readonly continue?: string }

/** An open watch. The test sends the events of the watch, and ends the watch. */
export class ScriptedWatch {
  readonly options: WatchOptions
  readonly #events: WatchEvent[] = []
  #end: { readonly error?: unknown } | undefined
  #wake: () => void = () => undefined
  #waits = false

  constructor(options: WatchOptions) {
    this.options = options
    options.signal?.addEventListener('abort', () => this.fail(options.signal?.reason), { once: true })
  }
  send(type: WatchEvent['type'], object: KubernetesObject): void {
    this.#events.push({ type, object })
    this.#waits = false
    this.#wake()
  }
  bookmark(resourceVersion: string): void {
    this.send('BOOKMARK', { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { resourceVersion } } as KubernetesObject)
  }
  end(): void {
    this.#end ??= {}
    this.#wake()
  }
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake()
  }
  get ended(): boolean {
    return this.#end !== undefined
  }
  /** True when the consumer has processed every event and waits for the next event. */
  get drained(): boolean {
    return this.#waits
  }
  async *events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      const event = this.#events.shift()
      if (event !== undefined) yield event
      else if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error
        return
      } else {
        this.#waits = true
        await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    }
  }
}

export class ScriptedClient {
  /** The types of the list and watch requests. */
  readonly types: ResourceType[] = []
  readonly lists: ListOptions[] = []
  readonly watches: ScriptedWatch[] = []
  /** The responses to list requests, in order. The last response is repeated. */
  answers: ListAnswer[] = [{ items: [], resourceVersion: '1' }]
  /** The errors with which the next watch requests fail. */
  readonly watchErrors: Error[] = []
  /** While false, new watch requests remain open without a response. */
  answersWatches = true

  /** The methods of `Client` that a cache needs. */
  get client(): Pick<Client, 'list' | 'watch'> {
    return this as unknown as Pick<Client, 'list' | 'watch'>
  }

  get lastWatch(): ScriptedWatch {
    return this.watches.at(-1)!
  }

  async list(type: ResourceType, options: ListOptions): Promise<unknown> {
    this.types.push(type)
    const { signal: _, maxResponseBytes: _maxResponseBytes, ...rest } = options
    this.lists.push(rest)
    const answer = this.answers.length > 1 ? this.answers.shift()! : this.answers[0]!
    if (answer instanceof Error) throw answer
    const { items, ...metadata } = answer
    return { apiVersion: 'example.com/v1', kind: 'WidgetList', metadata, items }
  }

  async *watch(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent> {
    this.types.push(type)
    const watch = new ScriptedWatch(options)
    this.watches.push(watch)
    const error = this.watchErrors.shift()
    if (error !== undefined) throw error
    if (this.answersWatches) options.onOpen?.()
    yield* watch.events()
  }
}
