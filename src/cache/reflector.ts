/** `Reflector`: keeps a sink equal to what the API server has, by list and watch, whatever happens to the connection. */
import type { Clock, Timer } from '../api/clock.ts'
import { sleep, systemClock } from '../api/clock.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import { isExpired } from '../client/api-error.ts'
import type { Client, ListOptions, WatchOptions } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import { BackOff } from './back-off.ts'
import type { Diagnosis, Phase } from './diagnosis.ts'
import { diagnose } from './diagnosis.ts'

/** Where the objects go. What it throws costs a new list, so it had better not. */
export interface Sink<T extends KubernetesObject> {
  /** The complete state of the server. */
  replace(objects: readonly DeepReadonly<T>[]): void
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: DeepReadonly<T>): void
  /** Called once, after the first `replace`. */
  synced(): void
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list' | 'watch'>
  readonly type: ResourceType<T>
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined
  readonly sink: Sink<T>
  readonly logger: Logger
  readonly clock?: Clock
  /** In [0, 1). */
  readonly random?: () => number
}

/** What kubectl and client-go take: big enough to be quick, small enough that one page does not block the process. */
const pageSize = 500
/** The server ends each watch after 5 to 10 minutes, so that watches spread over its replicas again; random, so that they do not do it together. */
const minWatchSeconds = 300
const watchSecondsSpread = 300
/**
 * Until a bookmark has shown that this server sends them, watches are short: on HTTP/1.1 nothing else tells a quiet watch from a dead one,
 * whose connection a firewall has forgotten and a proxy on the way keeps up. 60 s at least, for about then the first bookmark comes.
 */
const minUnknownWatchSeconds = 60
const unknownWatchSecondsSpread = 30
/** How much later than the server had to end it a watch without any event is given up as half-open. */
const graceSeconds = 30
/**
 * How long a watch may be silent where the server sends bookmarks, which it does about every minute. One that was only late costs
 * a new watch from the same place, and no list.
 */
const bookmarkedSilenceMs = 90_000
/** A watch that was open for this long works: failures before it no longer count. */
const settledMs = 5_000
/** A watch that ends sooner without any event did not work, though the server called it a success. */
const shortestWatchMs = 1_000

export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>
  readonly #clock: Clock
  readonly #random: () => number
  readonly #backOff: BackOff
  readonly #logger: Logger
  #phase: Phase = 'list'
  #resourceVersion: string | undefined
  #synced = false
  /** Whether the server has sent a bookmark, in whichever watch. */
  #bookmarked = false
  /** When the server accepted the watch that runs, or ran last. */
  #openedAt: number | undefined
  /** What is wrong now, logged once for as long as it stays the same. */
  #problem: (Diagnosis & { readonly phase: Phase }) | undefined

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#backOff = new BackOff(this.#random)
    const { namespace } = options
    this.#logger = options.logger.child({
      resource: groupResourceOf(options.type),
      ...(namespace === undefined ? {} : { watchedNamespace: namespace }),
    })
  }

  /** Whether the sink has had the complete state once. */
  get synced(): boolean {
    return this.#synced
  }

  /** What keeps it from working right now. */
  get lastError(): string | undefined {
    return this.#problem?.message
  }

  /** Lists and watches until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#phase === 'list') await this.#list(signal)
        else await this.#watch(signal)
      } catch (error) {
        if (signal.aborted) return
        await this.#recover(error, signal)
      }
    }
  }

  /** The newest state, not any (`resourceVersion=0`): after a restart nobody must act on what is older than what was seen before. */
  async #list(signal: AbortSignal): Promise<void> {
    const { client, type, namespace, sink } = this.#options
    const objects: DeepReadonly<T>[] = []
    let paging: Pick<ListOptions, 'limit' | 'continue'> = { limit: pageSize }
    for (;;) {
      let page
      try {
        page = await client.list(type, { namespace, signal, ...paging })
      } catch (error) {
        if (paging.continue === undefined || !isExpired(error)) throw error
        // So many objects that the server forgot the first page meanwhile: all at once then.
        this.#logger.debug('the list took longer than the API server remembers, listing again without pages')
        objects.length = 0
        paging = {}
        continue
      }
      for (const item of page.items as T[]) objects.push(freezeForStore(item))
      const token = page.metadata.continue
      if (token !== undefined && token !== '') {
        paging = { limit: pageSize, continue: token }
        continue
      }
      if (!page.metadata.resourceVersion)
        throw new ProreusError(
          'PRO_API',
          `The list of ${groupResourceOf(type)} came without a resourceVersion, so that it cannot be watched.`,
        )
      sink.replace(objects)
      this.#resourceVersion = page.metadata.resourceVersion
      this.#phase = 'watch'
      if (this.#problem?.phase === 'list') this.#solved()
      this.#logger.debug({ objects: objects.length, resourceVersion: this.#resourceVersion }, 'listed')
      if (!this.#synced) {
        this.#synced = true
        sink.synced()
      }
      return
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, type, namespace } = this.#options
    const [least, spread] = this.#bookmarked ? [minWatchSeconds, watchSecondsSpread] : [minUnknownWatchSeconds, unknownWatchSecondsSpread]
    const timeoutSeconds = least + Math.floor(this.#random() * (spread + 1))
    const guard = this.#guard(this.#bookmarked ? bookmarkedSilenceMs : (timeoutSeconds + graceSeconds) * 1000)
    let settled: Timer | undefined
    this.#openedAt = undefined
    const options: WatchOptions = {
      namespace,
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: AbortSignal.any([signal, guard.signal]),
      onOpen: () => {
        this.#openedAt = this.#clock.now()
        settled = this.#clock.after(settledMs, () => this.#works())
      },
      ...(this.#resourceVersion === undefined ? {} : { resourceVersion: this.#resourceVersion }),
    }
    let events = 0
    try {
      for await (const event of client.watch(type, options)) {
        if (signal.aborted) return
        this.#bookmarked ||= event.type === 'BOOKMARK'
        guard.alive()
        events += 1
        this.#solved()
        if (event.type !== 'BOOKMARK') this.#options.sink.change(event.type, freezeForStore(event.object as T))
        this.#resourceVersion = event.object.metadata.resourceVersion
      }
    } finally {
      guard.cancel()
      settled?.cancel()
    }
    if (signal.aborted) return
    if (events === 0 && (this.#openedAt === undefined || this.#clock.now() - this.#openedAt < shortestWatchMs)) {
      throw new ProreusError('PRO_API_UNREACHABLE', `The watch of ${groupResourceOf(type)} ended as soon as it began.`)
    }
    this.#works()
    this.#logger.debug({ resourceVersion: this.#resourceVersion }, 'the watch ended, watching on')
  }

  /** Aborts a watch that has been silent for longer than any can be that is alive. */
  #guard(limitMs: number): { readonly signal: AbortSignal; alive(): void; cancel(): void } {
    const abort = new AbortController()
    let last = this.#clock.now()
    const expire = (): void => {
      const left = last + limitMs - this.#clock.now()
      if (left > 0) timer = this.#clock.after(left, expire)
      else
        abort.abort(
          new ProreusError(
            'PRO_API_UNREACHABLE',
            `The watch of ${groupResourceOf(this.#options.type)} was silent for ${limitMs / 1000} s: its connection is dead.`,
          ),
        )
    }
    let timer = this.#clock.after(limitMs, expire)
    return {
      signal: abort.signal,
      alive: () => {
        last = this.#clock.now()
      },
      cancel: () => timer.cancel(),
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const phase = this.#phase
    const { type, namespace } = this.#options
    const diagnosis = diagnose(error, { phase, opened: phase === 'watch' && this.#openedAt !== undefined, type, namespace })
    this.#phase = diagnosis.relist ? 'list' : phase
    const firstInRow = this.#backOff.failures === 0
    const pause = Math.max(this.#backOff.next(diagnosis.maxPauseMs), diagnosis.minPauseMs ?? 0)
    if (diagnosis.atOnce && firstInRow) {
      this.#logger.debug({ reason: diagnosis.message }, 'listing again')
      return
    }
    const known = this.#problem?.id === diagnosis.id
    this.#problem = { ...diagnosis, phase }
    this.#logger[known ? 'debug' : diagnosis.level]({ ...(known ? { error: messageOf(error) } : {}), retryInMs: pause }, diagnosis.message)
    await sleep(this.#clock, pause, signal).catch(() => undefined) // only an abort ends it early, which `run` sees itself
  }

  /** The watch has shown that it lasts. One event alone does not: a watch that breaks after each would list without a pause. */
  #works(): void {
    this.#backOff.reset()
    this.#solved()
  }

  #solved(): void {
    if (this.#problem === undefined) return
    this.#problem = undefined
    this.#logger.info(`${groupResourceOf(this.#options.type)} can be listed and watched again`)
  }
}

/** Frozen, and without `managedFields`: they are often half of an object, and no reconciler reads them. */
function freezeForStore<T extends KubernetesObject>(object: T): DeepReadonly<T> {
  if (object.metadata.managedFields === undefined) return deepFreeze(object) as DeepReadonly<T>
  const { managedFields: _, ...metadata } = object.metadata
  return deepFreeze({ ...object, metadata }) as DeepReadonly<T>
}
