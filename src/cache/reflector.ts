/** `Reflector`: mirrors the objects of one type from the API server into a sink, by list and watch, across failures of the connection. */
import type { Clock, Timer } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
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
import type { Diagnosis, Phase } from './watch-recovery.ts'
import { diagnose } from './watch-recovery.ts'

/** Receives the objects. When it throws, the reflector relists. */
export interface Sink<T extends KubernetesObject> {
  /** Called with the complete state after each list. */
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
  /** Returns a number in [0, 1). */
  readonly random?: () => number
}

/** The page size of kubectl and client-go: large enough to be fast, small enough that one page does not block the event loop. */
const pageSize = 500
/**
 * The server ends each watch after 5 to 10 minutes, which spreads watches over its replicas again. The time is random, because watches
 * should not all end together.
 */
const minWatchSeconds = 300
const watchSecondsSpread = 300
/**
 * Watches are short until a first bookmark shows that this server sends them: with HTTP/1.1 nothing else distinguishes a quiet watch from a
 * dead one, whose connection a firewall has dropped while a proxy keeps its side open. The timeout is at least 60 s, because the first
 * bookmark comes after about that time.
 */
const minUnknownWatchSeconds = 60
const unknownWatchSecondsSpread = 30
/** A watch without any event that outlives its timeout by this time is considered half-open and aborted. */
const graceSeconds = 30
/**
 * Maximum silence of a watch with bookmarks, which arrive about every minute. If a bookmark was merely late, the watch is resumed without a
 * relist.
 */
const bookmarkedSilenceMs = 90_000
/** The back-off is reset after a watch was open for this time. */
const settledMs = 5_000
/** A watch that ends sooner without any event counts as failed, even if the server answered with success. */
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
  /** True when the server has sent a bookmark in any watch. */
  #bookmarked = false
  /** The time when the server accepted the current or last watch. */
  #openedAt: number | undefined
  /** The current failure, logged once while it stays the same. */
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

  /** True once the first list is complete. */
  get synced(): boolean {
    return this.#synced
  }

  /** The current error. */
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

  /**
   * Lists the newest state rather than any state (`resourceVersion=0`): after a restart no controller may act on an older state than
   * before.
   */
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
        // The continue token has expired because there are so many objects: lists them without pages.
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

  /** Aborts a watch that is silent for longer than a live one can be. */
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
    await sleep(this.#clock, pause, signal).catch(() => undefined) // Only an abort ends the pause early, which `run` handles.
  }

  /**
   * Called when a watch has lasted for `settledMs`. A single event is not enough: with a watch that breaks after each event, the reflector
   * would relist without a pause.
   */
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

/** Freezes the object, and drops `managedFields`, which are often half of an object and rarely read. */
function freezeForStore<T extends KubernetesObject>(object: T): DeepReadonly<T> {
  if (object.metadata.managedFields === undefined) return deepFreeze(object) as DeepReadonly<T>
  const { managedFields: _, ...metadata } = object.metadata
  return deepFreeze({ ...object, metadata }) as DeepReadonly<T>
}
