/** `Controller`: its workers take keys from the work queue, reconcile the objects, and requeue the keys according to the results. */
import type { Clock, Timer } from '../runtime/clock.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ControllerMetrics } from '../telemetry/metrics.ts'
import type { WorkQueue } from './queue.ts'
import type { ReconcileContext, Reconciler, ReconcileRequest, Result } from './reconciler.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import { parseKey } from '../api/object.ts'
import { newUuid } from '../runtime/random.ts'
import { TimeSlices } from '../runtime/time-slices.ts'
import { isTerminal, priorityOf, requeueOf } from './reconciler.ts'

/**
 * Time in milliseconds for which fast reconciles may run before they yield to timers and sockets. It is short, because a webhook's response
 * takes several iterations of the event loop and should be sent within milliseconds. Each yield costs about ten microseconds.
 */
const sliceMs = 2

/** All workers of all controllers share the time slices, because they share the event loop. */
const slices = new TimeSlices(sliceMs)

export interface ControllerOptions {
  readonly queue: WorkQueue<string>
  readonly reconcile: Reconciler
  /** Maximum number of objects that are reconciled at the same time. */
  readonly workers: number
  /** Time after which the signal of a reconcile aborts, in milliseconds. Default: no limit. */
  readonly reconciliationTimeoutMs?: number | undefined
  /** The grace period of a shutdown in milliseconds. Reconciles may run until it ends; then their signals abort. */
  readonly graceMs: number
  readonly client: Client
  readonly cache: OperatorCache
  readonly events: EventRecorder
  readonly clock: Clock
  /** Returns a number in [0, 1), for `reconcileID`. */
  readonly random: () => number
  /** A logger that adds the controller's name to each log line. */
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** The outcome of a reconcile. It determines whether and how the key is requeued. */
type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'requeue_after'; readonly ms: number; readonly priority: number | undefined }
  | { readonly kind: 'requeue'; readonly priority: number | undefined }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'terminal'; readonly error: unknown }
  | { readonly kind: 'aborted'; readonly error: unknown; readonly because: string }

/** The signals that end a call of `work`. */
export interface WorkSignals {
  /** Aborts when the process stops. Running reconciles may then go on for the grace period. */
  readonly stop: AbortSignal
  /**
   * Aborts when this replica is no longer the leader. Running reconciles are then aborted immediately, because another replica may already
   * reconcile the same objects.
   */
  readonly lost: AbortSignal
}

/** Runs the workers of a controller. */
export class Controller {
  readonly #options: ControllerOptions
  /** The running reconciles, by the abort controllers of their signals. */
  readonly #running = new Map<AbortController, Promise<void>>()
  /** The workers; undefined before the first call of `work`. The promise resolves when the queue is shut down. */
  #workers: Promise<unknown> | undefined
  /** True while reconciles may start. */
  #working = false

  /** Pauses the queue until the first call of `work`. */
  constructor(options: ControllerOptions) {
    this.#options = options
    options.queue.pause()
  }

  /**
   * Reconciles until one of the signals aborts. After `stop`, it resolves when the last running reconcile has ended. After `lost`, it
   * resolves immediately. It may then be called again: keys that are still queued are reconciled, except those of reconciles that ignore
   * their aborted signals. Such a key stays reserved until its reconcile ends, so that two reconciles never process one object at the same
   * time.
   *
   * When a worker fails, `work` ends as if `stop` had aborted, and rejects with the worker's error.
   */
  async work({ stop, lost }: WorkSignals): Promise<void> {
    const { queue, workers, clock, graceMs, metrics } = this.#options
    metrics.maxWorkers(workers)
    this.#workers ??= this.#startWorkers(workers)
    const paused = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    let grace: Timer | undefined
    const pause = (): void => {
      if (!this.#working) return
      this.#working = false
      queue.pause()
      grace = clock.after(graceMs, () => this.#abortRunning('the process ends', 'The process ends; the reconcile did not end in time.'))
      paused.resolve()
    }
    const onLost = (): void => {
      pause()
      const because = 'this replica is no longer the leader'
      this.#abortRunning(because, `The reconcile was aborted, because ${because}.`)
      gone.resolve()
    }
    if (stop.aborted || lost.aborted) return
    stop.addEventListener('abort', pause, { once: true })
    lost.addEventListener('abort', onLost, { once: true })
    try {
      this.#working = true
      queue.resume()
      await Promise.race([paused.promise, this.#workers])
    } finally {
      pause()
      await Promise.race([gone.promise, Promise.allSettled(this.#running.values())])
      grace?.cancel()
      stop.removeEventListener('abort', pause)
      lost.removeEventListener('abort', onLost)
    }
  }

  #startWorkers(count: number): Promise<unknown> {
    const workers = Promise.all(Array.from({ length: count }, () => this.#runWorker()))
    // A worker may fail between two calls of `work`. The next call then rejects.
    workers.catch(() => undefined)
    return workers
  }

  /** Takes keys from the queue and reconciles them, one after the other, until the queue is shut down. */
  async #runWorker(): Promise<void> {
    const { queue, clock } = this.#options
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      // The time slice is checked after `queue.get`, which may wait for a long time. If it were checked before, several keys that are added
      // at once would start the reconciles of all waiting workers in the same iteration of the event loop.
      const turn = slices.next(() => clock.monotonicNow())
      if (turn !== undefined) await turn
      try {
        if (this.#working) await this.#track(key)
        else queue.add(key, { priority: queue.priorityOf(key) })
      } catch (error) {
        this.#logPlainly(key, error)
      } finally {
        queue.done(key)
      }
    }
  }

  /** Reconciles the object with this key. Meanwhile, `#running` contains the reconcile. */
  async #track(key: string): Promise<void> {
    const abort = new AbortController()
    const processing = this.#process(key, abort)
    this.#running.set(abort, processing)
    this.#options.metrics.activeWorkers(this.#running.size)
    try {
      await processing
    } finally {
      this.#running.delete(abort)
      this.#options.metrics.activeWorkers(this.#running.size)
    }
  }

  /**
   * Logs that the outcome of a reconcile could not be reported, e.g. because the error has a getter that throws. The key is already
   * requeued. If this log call also throws, the worker and the controller end, and the liveness probe fails.
   */
  #logPlainly(key: string, error: unknown): void {
    this.#options.metrics.panicked()
    this.#options.logger.error(`the outcome of the reconcile of ${key} could not be reported: ${plainTextOf(error)}`)
  }

  async #process(key: string, abort: AbortController): Promise<void> {
    const { clock } = this.#options
    const request = parseKey(key)
    const context = this.#contextOf(request, abort)
    const startedAt = clock.monotonicNow()
    // `#attempt` catches errors, but inspecting a thrown value can throw, too.
    const outcome = await this.#attempt(request, context, abort).catch((error: unknown): Outcome => ({ kind: 'error', error }))
    this.#settle(key, outcome, context, (clock.monotonicNow() - startedAt) / 1000)
  }

  /**
   * Returns the context of one reconcile. Logger, ID, signal and client are created when they are first read, because most reconciles find
   * nothing to do, and creating a child logger takes as long as all the rest of such a reconcile.
   */
  #contextOf(request: ReconcileRequest, abort: AbortController): ReconcileContext {
    const { cache, clock, events, random, client: sharedClient, logger: controllerLogger } = this.#options
    let [reconcileID, logger, client]: [string?, Logger?, Client?] = []
    return {
      cache,
      clock,
      events,
      get reconcileID() {
        return (reconcileID ??= newUuid(random))
      },
      get logger() {
        return (logger ??= controllerLogger.child({ namespace: request.namespace, name: request.name, reconcileID: this.reconcileID }))
      },
      get signal() {
        return abort.signal
      },
      get client() {
        return (client ??= clientWithSignal(sharedClient, abort.signal))
      },
    }
  }

  /** Calls the reconciler once. A thrown value or a rejection is converted to an outcome. */
  async #attempt(request: ReconcileRequest, context: ReconcileContext, abort: AbortController): Promise<Outcome> {
    const { reconcile, clock, reconciliationTimeoutMs, metrics } = this.#options
    const limit =
      reconciliationTimeoutMs === undefined
        ? undefined
        : clock.after(reconciliationTimeoutMs, () => {
            metrics.timedOut()
            abort.abort(new ProreusError('PRO_ABORTED', `The reconcile took longer than its limit of ${reconciliationTimeoutMs} ms.`))
          })
    try {
      return outcomeOf(await reconcile(request, context))
    } catch (error) {
      const { aborted, reason } = abort.signal
      if (aborted && reason instanceof CutOff) return { kind: 'aborted', error, because: reason.because }
      return { kind: isTerminal(error) ? 'terminal' : 'error', error }
    } finally {
      limit?.cancel()
    }
  }

  #settle(key: string, outcome: Outcome, context: ReconcileContext, seconds: number): void {
    const { queue, metrics } = this.#options
    const debug = (fields: object, message: string): void => {
      if (this.#options.logger.isLevelEnabled('debug')) context.logger.debug(fields, message)
    }
    switch (outcome.kind) {
      case 'success':
        queue.forget(key)
        metrics.reconciled('success', seconds)
        debug({ seconds }, 'reconciled')
        return
      case 'requeue_after':
        queue.forget(key)
        // The default priority: a periodic reconcile of an object is no longer one of the initial reconciles, which have a lower priority.
        queue.add(key, { after: outcome.ms, priority: outcome.priority })
        metrics.reconciled('requeue_after', seconds)
        debug({ seconds, requeueAfterMs: outcome.ms }, 'reconciled, again later')
        return
      case 'requeue':
        queue.addRateLimited(key, { priority: outcome.priority })
        metrics.reconciled('requeue', seconds)
        debug({ seconds }, 'reconciled, again with back-off')
        return
      case 'terminal':
        queue.forget(key)
        metrics.failedTerminally()
        metrics.reconciled('error', seconds)
        context.logger.error(
          { err: loggedError(outcome.error), seconds },
          `the reconcile failed and is not tried again until the object changes${permissionAdvice(outcome.error, 'controller')}`,
        )
        return
      case 'error':
        queue.addRateLimited(key)
        if (isProgrammingError(outcome.error)) metrics.panicked()
        metrics.reconciled('error', seconds)
        context.logger.error(
          { err: loggedError(outcome.error), seconds },
          `the reconcile failed and is tried again${permissionAdvice(outcome.error, 'controller')}`,
        )
        return
      case 'aborted':
        // The key is reconciled again if this replica becomes the leader again.
        queue.add(key)
        metrics.reconciled('error', seconds)
        context.logger.warn({ err: outcome.error, seconds }, `the reconcile was cut off because ${outcome.because}`)
    }
  }

  #abortRunning(because: string, message: string): void {
    const reason = new CutOff(message, because)
    for (const abort of this.#running.keys()) abort.abort(reason)
  }
}

/** The abort reason of a reconcile that `work` aborts. */
class CutOff extends ProreusError {
  readonly because: string

  constructor(message: string, because: string) {
    super('PRO_ABORTED', message)
    this.because = because
  }
}

function outcomeOf(result: Result): Outcome {
  const requeue = requeueOf(result)
  if (requeue === 'success') return { kind: 'success' }
  const priority = priorityOf(result)
  return requeue === 'requeue' ? { kind: 'requeue', priority } : { kind: 'requeue_after', ms: requeue, priority }
}

function plainTextOf(error: unknown): string {
  try {
    return messageOf(error)
  } catch {
    return 'by an error that cannot be read'
  }
}

/**
 * Returns whether an error indicates a bug (which would be a panic in Go) rather than a failure of the environment. An error with a cause
 * is not considered a bug, because `fetch` reports each network error as a TypeError with a cause.
 */
function isProgrammingError(error: unknown): boolean {
  return (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) && error.cause === undefined
}
