/**
 * `Reflector`: lists and watches the objects of one type on the API server and passes the objects to a sink. A failed list or watch is
 * retried.
 */
import type { Clock, Timer } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { sleep } from '../runtime/waiting.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { DeepReadonly } from '../api/json.ts'
import { compareResourceVersions } from '../api/resource-version.ts'
import type { KubernetesObject, ObjectList, ObjectMeta } from '../api/object.ts'
import { isExpired } from '../client/api-error.ts'
import type { Client, WatchOptions } from '../client/client.ts'
import { ContinueTokens } from '../client/continue-tokens.ts'
import { ResponseTooLargeError } from '../client/response-too-large.ts'
import type { Logger } from '../telemetry/logger.ts'
import { BackOff } from './back-off.ts'
import { forEachInSlices } from './in-slices.ts'
import { PageSize } from './page-size.ts'
import type { Diagnosis, Phase } from './watch-recovery.ts'
import { diagnose } from './watch-recovery.ts'
import { storedForm } from './stored-form.ts'
import { requestedType, selectorsOf } from './view.ts'

/** A complete list of the objects of the watched type and namespace. */
export interface FullList<T extends KubernetesObject> {
  readonly objects: readonly DeepReadonly<T>[]
  readonly resourceVersion: string
  /**
   * True when etcd was restored from a backup: the resourceVersion of the list is lower than a resourceVersion that the API server has sent
   * before. A stored object with a higher resourceVersion is then not necessarily newer than the listed object.
   */
  readonly restored: boolean
}

/** Receives the objects that a `Reflector` lists and watches. When a method throws, the reflector relists. */
export interface Sink<T extends KubernetesObject> {
  /** Called before the first request of each list. */
  listing(): void
  /** Called after each list. The watch starts when the promise has resolved. */
  replace(list: FullList<T>): Promise<void>
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: DeepReadonly<T>): void
  /** Called instead of `change` if `prepare` returns undefined for the object. */
  omit?(type: 'ADDED' | 'MODIFIED' | 'DELETED', metadata: ObjectMeta): void
  /** Called once, after the first `replace` has resolved. */
  synced(): void
}

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list' | 'watch'>
  readonly type: ResourceType<T>
  /** The namespace to watch; all namespaces when absent. */
  readonly namespace?: string | undefined
  readonly sink: Sink<T>
  /** Converts each received object. The sink gets the converted object. Returns undefined to omit the object. Default: `storedForm`. */
  readonly prepare?: (object: KubernetesObject) => DeepReadonly<T> | undefined
  readonly logger: Logger
  readonly clock?: Clock
  /** Returns a number in [0, 1); `Math.random` when absent. */
  readonly random?: () => number
}

/**
 * The timeout of a watch with bookmarks (`timeoutSeconds`): the minimum in seconds, and the maximum of the random number of seconds that is
 * added to the minimum. Such a watch ends after 5 to 10 minutes. The next watch may reach another replica of the API server, so the load
 * stays balanced. Because of the random number, watches do not all end at the same time.
 */
const minWatchSeconds = 300
const watchSecondsSpread = 300
/**
 * Minimum timeout of a watch in seconds, as long as the server has not sent any bookmark. The timeout is short, because without bookmarks,
 * a dead connection looks like a watch of objects that do not change. For example, a firewall can drop the connection between a proxy and
 * the API server, while the client stays connected to the proxy.
 *
 * The timeout is at least 60 s, because the first bookmark arrives after about a minute.
 */
const minUnknownWatchSeconds = 60
const unknownWatchSecondsSpread = 30
/**
 * The server ends a watch at the timeout. If a watch without bookmarks receives no event for its timeout plus this time, the connection is
 * considered dead, and the watch is aborted.
 */
const graceSeconds = 30
/**
 * Maximum time without an event on a watch with bookmarks. Bookmarks arrive about every minute. After this time, the watch is aborted and
 * resumed without a relist. If the next bookmark was only late, the cost is one more request.
 */
const bookmarkedSilenceMs = 90_000
/** After a watch has been open for this time, the back-off is reset. */
const settledMs = 5_000
/**
 * A watch that ends within this time has ended too early, even without an error. If the server has sent events in this watch, the watch
 * counts as cut off. If the server has sent no events, the watch counts as failed.
 */
const shortestWatchMs = 1_000
/** The `id` of this problem: the server or a proxy sends events, but ends each watch within `shortestWatchMs`. */
const cutOff = 'cut off'

export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>
  /** The type of the list and watch requests. For a metadata-only view, it is the metadata-only type of `options.type`. */
  readonly #requested: ResourceType<T>
  readonly #prepare: NonNullable<ReflectorOptions<T>['prepare']>
  readonly #clock: Clock
  readonly #random: () => number
  readonly #pageSize = new PageSize()
  readonly #backOff: BackOff
  /** Counts the consecutive watches that sent events and were cut off. */
  readonly #cuts: BackOff
  readonly #logger: Logger
  #phase: Phase = 'list'
  #resourceVersion: string | undefined
  #synced = false
  /** True when the server has sent a bookmark in the current watch or in an earlier watch. */
  #bookmarked = false
  /** The time at which the server accepted the latest watch; undefined if the server has not accepted the latest watch. */
  #openedAt: number | undefined
  /** The current failure of the list or watch. If the next failure has the same `id`, the next failure is logged at level debug. */
  #problem: (Diagnosis & { readonly phase: Phase }) | undefined

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#requested = requestedType(options.type)
    this.#prepare = options.prepare ?? ((object) => storedForm(options.type, object) as DeepReadonly<T>)
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#backOff = new BackOff(this.#random)
    this.#cuts = new BackOff(this.#random)
    const { namespace } = options
    this.#logger = options.logger.child({
      resource: groupResourceOf(options.type),
      ...(namespace === undefined ? {} : { watchedNamespace: namespace }),
    })
  }

  /** True when the first list is complete. */
  get synced(): boolean {
    return this.#synced
  }

  /** The resourceVersion up to which the sink has received all changes; undefined before the first list. */
  get resourceVersion(): string | undefined {
    return this.#resourceVersion
  }

  /** The message of the current failure; undefined while the list and watch succeed. */
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
   * Lists the most recent state. The request does not set `resourceVersion=0`. With `resourceVersion=0`, the API server might return an
   * older state from its watch cache, and after a restart of this process, a controller might act on an older state than before the
   * restart.
   *
   * The objects are listed in pages, because a streaming list (a watch with `sendInitialEvents`) takes more CPU time. Measured with 5,000
   * ConfigMaps of 1.5 KiB on kube-apiserver 1.36, which serves both kinds of list from its watch cache:
   *
   * - Pages: 60 to 70 ms of CPU time in the API server, and 47 to 76 ms in this process.
   * - Streaming list: 120 to 140 ms in the API server, and 60 to 86 ms in this process.
   *
   * Each list was complete after 0.15 to 0.4 s. The API server used the same amount of memory for both kinds.
   */
  async #list(signal: AbortSignal): Promise<void> {
    const { type, sink } = this.#options
    const objects: DeepReadonly<T>[] = []
    sink.listing()
    let tokens = new ContinueTokens()
    let expiries = 0
    /** The continue token of the page that is being requested. */
    let next: string | undefined
    let request = this.#requestPage({}, signal)
    for (;;) {
      let page
      try {
        page = await request
      } catch (error) {
        if (next === undefined || !isExpired(error)) throw error
        next = undefined
        // The continue token has expired, because the previous pages took too long. The list starts again. After the second expired token,
        // the objects are listed without pages. Such a list needs no token, but parsing it blocks the event loop.
        expiries += 1
        const isWhole = expiries > 1
        this.#logger.debug(`the list took longer than the API server remembers, listing again${isWhole ? ' without pages' : ''}`)
        objects.length = 0
        tokens = new ContinueTokens()
        request = this.#requestPage({ isWhole }, signal)
        continue
      }
      next = tokens.next(page)
      if (next !== undefined) {
        // The API server reads the next page while the objects of this page are processed.
        request = this.#requestPage({ next }, signal)
        request.catch(() => undefined)
      }
      await forEachInSlices(page.items, this.#clock, (item) => {
        const object = this.#prepare(item)
        if (object !== undefined) objects.push(object)
      })
      if (next !== undefined) continue
      if (!isResourceVersion(page.metadata.resourceVersion))
        throw new ProreusError(
          'PRO_API',
          `The list of ${groupResourceOf(type)} came without a resourceVersion, so that it cannot be watched.`,
        )
      const { resourceVersion } = page.metadata
      const restored = (compareResourceVersions(resourceVersion, this.#resourceVersion ?? resourceVersion) ?? 0) < 0
      await sink.replace({ objects, resourceVersion, restored })
      if (signal.aborted) return
      this.#resourceVersion = resourceVersion
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

  /**
   * Requests a page of a list, or the whole list. If the response with a page exceeds the limit in bytes, the page is requested again with
   * fewer objects.
   */
  async #requestPage(
    { next, isWhole = false }: { readonly next?: string; readonly isWhole?: boolean },
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    const { client, type, namespace } = this.#options
    for (;;) {
      const limits = isWhole ? {} : this.#pageSize.limits
      try {
        const paging = { ...limits, ...(next !== undefined && { continue: next }) }
        const page = await client.list(this.#requested, { namespace, signal, ...selectorsOf(type), ...paging })
        this.#pageSize.grow()
        return page
      } catch (error) {
        if (!(error instanceof ResponseTooLargeError) || limits.maxResponseBytes === undefined) throw error
        this.#pageSize.shrink()
      }
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
      ...selectorsOf(type),
      allowWatchBookmarks: true,
      timeoutSeconds,
      signal: AbortSignal.any([signal, guard.signal]),
      onOpen: () => {
        this.#openedAt = this.#clock.monotonicNow()
        settled = this.#clock.after(settledMs, () => this.#works())
      },
      ...(this.#resourceVersion === undefined ? {} : { resourceVersion: this.#resourceVersion }),
    }
    let events = 0
    try {
      for await (const event of client.watch(this.#requested, options)) {
        if (signal.aborted) return
        this.#bookmarked ||= event.type === 'BOOKMARK'
        guard.alive()
        events += 1
        if (this.#problem?.id !== cutOff) this.#solved()
        const { resourceVersion } = event.object.metadata
        // The next watch begins at this resourceVersion. If the resourceVersion is invalid, the error causes a relist.
        if (!isResourceVersion(resourceVersion))
          throw new ProreusError('PRO_API', `The API server sent an event of ${groupResourceOf(type)} without a valid resourceVersion.`)
        if (event.type !== 'BOOKMARK') this.#change(event.type, event.object)
        this.#resourceVersion = resourceVersion
      }
    } finally {
      guard.cancel()
      settled?.cancel()
    }
    if (signal.aborted) return
    const isShort = this.#openedAt === undefined || this.#clock.monotonicNow() - this.#openedAt < shortestWatchMs
    if (isShort && events === 0)
      throw new ProreusError('PRO_API_UNREACHABLE', `The watch of ${groupResourceOf(type)} ended as soon as it began.`)
    if (isShort) {
      await this.#afterCut(signal)
      return
    }
    this.#works()
    this.#logger.debug({ resourceVersion: this.#resourceVersion }, 'the watch ended, watching on')
  }

  #change(type: 'ADDED' | 'MODIFIED' | 'DELETED', received: KubernetesObject): void {
    const { sink } = this.#options
    const object = this.#prepare(received)
    if (object === undefined) sink.omit?.(type, received.metadata)
    else sink.change(type, object)
  }

  /**
   * Aborts a watch that receives no event for `limitMs`, because the connection of such a watch is probably dead. The caller calls `alive`
   * at each event.
   */
  #guard(limitMs: number): { readonly signal: AbortSignal; alive(): void; cancel(): void } {
    const abort = new AbortController()
    let last = this.#clock.monotonicNow()
    const expire = (): void => {
      const left = last + limitMs - this.#clock.monotonicNow()
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
        last = this.#clock.monotonicNow()
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
    await sleep(this.#clock, pause, signal).catch(() => undefined) // Rejects only when the signal aborts. `run` checks the signal.
  }

  /**
   * Pauses after a watch that was cut off. A watch counts as cut off if it received events and ended without an error within a second.
   * There is no pause after the first watch that was cut off, because every server sometimes ends a watch early. If the following watches
   * are also cut off, the pauses become longer until `#works` resets them. Without these pauses, a server that ends each watch after one
   * event would get a watch request for each event.
   */
  async #afterCut(signal: AbortSignal): Promise<void> {
    this.#backOff.reset()
    const isFirst = this.#cuts.failures === 0
    const pause = this.#cuts.next()
    if (isFirst) return
    const message = `The API server, or a proxy, ends the watch of ${groupResourceOf(this.#options.type)} within a second.`
    this.#logger[this.#problem?.id === cutOff ? 'debug' : 'warn']({ retryInMs: pause }, message)
    this.#problem = { id: cutOff, level: 'warn', message, relist: false, phase: 'watch' }
    await sleep(this.#clock, pause, signal).catch(() => undefined) // `sleep` rejects only when the signal aborts. `run` checks the signal.
  }

  /**
   * Resets the back-off. The method is called when a watch has been open for `settledMs`, or has ended without an error after at least a
   * second. The method is not called at the first event. If it were, the pauses would never grow while each watch fails after one event.
   */
  #works(): void {
    this.#backOff.reset()
    this.#cuts.reset()
    this.#solved()
  }

  #solved(): void {
    if (this.#problem === undefined) return
    this.#problem = undefined
    this.#logger.info(`${groupResourceOf(this.#options.type)} can be listed and watched again`)
  }
}

/** Returns true for a resourceVersion with which a watch can begin. */
function isResourceVersion(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
