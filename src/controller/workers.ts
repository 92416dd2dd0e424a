/** `Workers` take keys from the work queue of a controller, reconcile the objects, and requeue the keys according to the results. */
import type { Clock, Timer } from '../runtime/clock.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'
import { withLogContext } from '../telemetry/log-context.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ControllerMetrics } from '../telemetry/metrics.ts'
import type { WorkQueue } from './queue.ts'
import type { Reconciler, Result } from './reconciler.ts'
import type { RunningReconcile } from './running-reconcile.ts'
import type { RunningReconciles } from './running-reconciles.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import { parseKey } from '../api/object.ts'
import { TimeSlices } from '../runtime/time-slices.ts'
import { isTerminal, priorityOf, requeueOf } from './reconciler.ts'

/**
 * Time in milliseconds after which workers start no more reconciles in one iteration of the event loop, so that timers and sockets can run.
 * The response of a webhook takes several iterations and should be sent within milliseconds, so each iteration must be short. When a worker
 * waits for a later iteration, the wait itself costs only about ten microseconds.
 */
const sliceMs = 2

/** The delay of a retry in milliseconds when the rate limiter throws. */
const withoutRateLimiterMs = 5000

/** All workers of all controllers share the time slices, because they share the event loop. */
const slices = new TimeSlices(sliceMs)

export interface WorkersOptions {
  readonly queue: WorkQueue<string>
  readonly running: RunningReconciles
  readonly reconcile: Reconciler
  /** The number of workers, which is the maximum number of objects that are reconciled at the same time. */
  readonly count: number
  /** Time after which the signal of a reconcile aborts, in milliseconds. Default: no limit. */
  readonly reconciliationTimeoutMs?: number | undefined
  /** The grace period of a shutdown in milliseconds. When this time has passed, the signals of running reconciles abort. */
  readonly graceMs: number
  readonly clock: Clock
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
  /** Aborts when the process stops. Running reconciles may continue until the grace period ends. */
  readonly stop: AbortSignal
  /**
   * Aborts when this replica is no longer the leader. Running reconciles are then aborted immediately, because another replica may already
   * reconcile the same objects.
   */
  readonly lost: AbortSignal
}

/** The workers of a controller. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #now: () => number
  /** The promise of all workers; undefined before the first call of `work`. The promise resolves when the queue is shut down. */
  #workers: Promise<unknown> | undefined
  /** True while reconciles may start. */
  #working = false

  /** Pauses the queue until the first call of `work`. */
  constructor(options: WorkersOptions) {
    this.#options = options
    this.#now = () => options.clock.monotonicNow()
    options.queue.pause()
  }

  /**
   * Reconciles objects until one of these events:
   *
   * - `stop` aborts: the promise resolves when the last running reconcile has ended.
   * - `lost` aborts: the promise resolves immediately, even if a reconcile ignores its aborted signal.
   * - A worker fails: the promise rejects with the worker's error when the last running reconcile has ended.
   *
   * When the promise has resolved, `work` may be called again. The queue does not hand out the key of a reconcile that is still running, so
   * two reconciles never process one object at the same time.
   */
  async work({ stop, lost }: WorkSignals): Promise<void> {
    const { queue, running, count, clock, graceMs, metrics } = this.#options
    metrics.maxWorkers(count)
    this.#workers ??= this.#start(count)
    const paused = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    let grace: Timer | undefined
    const pause = (): void => {
      if (!this.#working) return
      this.#working = false
      queue.pause()
      grace = clock.after(graceMs, () => {
        running.abort(new CutOff('The process ends; the reconcile did not end in time.', 'the process ends'))
      })
      paused.resolve()
    }
    const onLost = (): void => {
      pause()
      const because = 'this replica is no longer the leader'
      running.abort(new CutOff(`The reconcile was aborted, because ${because}.`, because))
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
      await Promise.race([gone.promise, running.whenNone()])
      grace?.cancel()
      stop.removeEventListener('abort', pause)
      lost.removeEventListener('abort', onLost)
    }
  }

  #start(count: number): Promise<unknown> {
    const workers = Promise.all(Array.from({ length: count }, () => this.#runWorker()))
    // If a worker fails between two calls of `work`, the next call rejects. This handler prevents an unhandled rejection before the next
    // call.
    workers.catch(() => undefined)
    return workers
  }

  /** Takes keys from the queue and reconciles them, one after the other, until the queue is shut down. */
  async #runWorker(): Promise<void> {
    const { queue } = this.#options
    for (let key = await queue.get(); key !== undefined; key = queue.take() ?? (await queue.get())) {
      // The time slice is checked after `queue.get`. If it were checked before `queue.get`, all workers that wait in `queue.get` could
      // start their reconciles in the same iteration of the event loop, when several keys are added at once.
      const turn = slices.next(this.#now)
      if (turn !== undefined) await turn
      try {
        if (this.#working) await this.#reconcile(key)
        else queue.add(key, { priority: queue.priorityOf(key) })
      } catch (error) {
        this.#logPlainly(key, error)
      } finally {
        queue.done(key)
      }
    }
  }

  /**
   * Logs that the outcome of a reconcile could not be reported, e.g. because the error has a getter that throws. `#settle` has already
   * requeued the key if necessary. If this log call also throws, the worker and the controller end, and the liveness probe fails.
   */
  #logPlainly(key: string, error: unknown): void {
    this.#options.metrics.panicked()
    this.#options.logger.error(`the outcome of the reconcile of ${key} could not be reported: ${plainTextOf(error)}`)
  }

  /** Reconciles the object with this key, and requeues the key according to the result. */
  async #reconcile(key: string): Promise<void> {
    const { running, metrics } = this.#options
    const current = running.start(key)
    metrics.activeWorkers(running.size)
    const startedAt = this.#now()
    const outcome = await this.#attempt(key, current)
    running.end(current)
    metrics.activeWorkers(running.size)
    this.#settle(key, outcome, current, (this.#now() - startedAt) / 1000)
  }

  /** Calls the reconciler once. A thrown value or a rejection is converted to an outcome. */
  async #attempt(key: string, current: RunningReconcile): Promise<Outcome> {
    const { reconcile, clock, reconciliationTimeoutMs, metrics } = this.#options
    const limit =
      reconciliationTimeoutMs === undefined
        ? undefined
        : clock.after(reconciliationTimeoutMs, () => {
            metrics.timedOut()
            current.abort(new ProreusError('PRO_ABORTED', `The reconcile took longer than its limit of ${reconciliationTimeoutMs} ms.`))
          })
    try {
      return outcomeOf(await withLogContext(current, () => reconcile(parseKey(key), current)))
    } catch (error) {
      return failureOf(error, current.abortReason)
    } finally {
      limit?.cancel()
    }
  }

  /** Adds a retry with the delay of the rate limiter. If a custom rate limiter throws, the retry follows after a fixed delay. */
  #retry(key: string, priority?: number): void {
    const { queue } = this.#options
    try {
      queue.addRateLimited(key, { priority })
    } catch (error) {
      queue.add(key, { after: withoutRateLimiterMs, priority })
      throw error
    }
  }

  #settle(key: string, outcome: Outcome, context: RunningReconcile, seconds: number): void {
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
        // If the result has no priority, the key gets the priority 0. If the key kept the priority of this reconcile, all periodic
        // reconciles of the object would have the low priority of its initial reconcile.
        queue.add(key, { after: outcome.ms, priority: outcome.priority })
        metrics.reconciled('requeue_after', seconds)
        debug({ seconds, requeueAfterMs: outcome.ms }, 'reconciled, again later')
        return
      case 'requeue':
        this.#retry(key, outcome.priority)
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
        this.#retry(key)
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
}

/** The reason with which `work` aborts a running reconcile. */
class CutOff extends ProreusError {
  readonly because: string

  constructor(message: string, because: string) {
    super('PRO_ABORTED', message)
    this.because = because
  }
}

const success: Outcome = { kind: 'success' }

function outcomeOf(result: Result): Outcome {
  const requeue = requeueOf(result)
  if (requeue === 'success') return success
  const priority = priorityOf(result)
  return requeue === 'requeue' ? { kind: 'requeue', priority } : { kind: 'requeue_after', ms: requeue, priority }
}

/**
 * Returns the outcome of a reconcile that has thrown `error`. An access to a property of `error` may also throw, e.g. because of a getter
 * or a proxy trap. In this case, the kind of the outcome is 'error'.
 */
function failureOf(error: unknown, abortReason: unknown): Outcome {
  try {
    if (abortReason instanceof CutOff) return { kind: 'aborted', error, because: abortReason.because }
    return { kind: isTerminal(error) ? 'terminal' : 'error', error }
  } catch {
    return { kind: 'error', error }
  }
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
