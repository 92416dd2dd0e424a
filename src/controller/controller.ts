/** `Controller`: its workers take keys from the work queue, reconcile the objects, and requeue the keys according to the results. */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../runtime/clock.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import { permissionAdvice } from '../client/missing-rule.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { ControllerMetrics } from '../telemetry/metrics.ts'
import type { WorkQueue } from './queue.ts'
import type { CacheReader, Reconciler, ReconcileRequest, Result } from './reconciler.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import { parseKey } from '../api/object.ts'
import { TimeSlices } from '../runtime/time-slices.ts'
import { isTerminal, requeueOf } from './reconciler.ts'

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
  readonly cache: CacheReader
  readonly events: EventRecorder
  readonly clock: Clock
  /** A logger that adds the controller's name to each log line. */
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** The outcome of a reconcile. It determines whether and how the key is requeued. */
type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'requeue_after'; readonly ms: number }
  | { readonly kind: 'requeue' }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'terminal'; readonly error: unknown }
  | { readonly kind: 'aborted'; readonly error: unknown }

/** Runs the workers of a controller. */
export class Controller {
  readonly #options: ControllerOptions
  /** The abort controllers of running reconciles. */
  readonly #running = new Set<AbortController>()
  /** True when no further reconcile may start. */
  #stopping = false
  /** The abort reason of reconciles that were still running at the end of the grace period; undefined before that. */
  #ended: ProreusError | undefined

  constructor(options: ControllerOptions) {
    this.#options = options
  }

  /**
   * Reconciles until `signal` aborts, and resolves when the last running reconcile has ended. When a worker fails, the other workers stop
   * as if the signal had aborted, and `run` rejects with the worker's error. Queued keys are dropped, because the next start lists all
   * objects again.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { queue, workers, clock, graceMs, metrics } = this.#options
    let grace: Timer | undefined
    const stop = (): void => {
      this.#stopping = true
      queue.shutDown()
      grace ??= clock.after(graceMs, () => this.#abortRunning())
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    metrics.maxWorkers(workers)
    const ends = await Promise.allSettled(Array.from({ length: workers }, () => this.#work().finally(stop)))
    signal.removeEventListener('abort', stop)
    grace?.cancel()
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  /** Takes keys from the queue and reconciles them, one after the other, until the queue is shut down. */
  async #work(): Promise<void> {
    const { queue, clock } = this.#options
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      // The time slice is checked after `queue.get`, which may wait for a long time. If it were checked before, several keys that are added
      // at once would start the reconciles of all waiting workers in the same iteration of the event loop.
      const turn = slices.next(() => clock.monotonicNow())
      if (turn !== undefined) await turn
      try {
        if (!this.#stopping) await this.#process(key)
      } catch (error) {
        this.#logPlainly(key, error)
      } finally {
        queue.done(key)
      }
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

  async #process(key: string): Promise<void> {
    const { clock, metrics } = this.#options
    const request = parseKey(key)
    const reconcileID = randomUUID()
    const logger = this.#options.logger.child({ namespace: request.namespace, name: request.name, reconcileID })
    const abort = new AbortController()
    this.#running.add(abort)
    metrics.activeWorkers(this.#running.size)
    const startedAt = clock.monotonicNow()
    // `#attempt` catches errors, but inspecting a thrown value can throw, too.
    const outcome = await this.#attempt(request, reconcileID, logger, abort).catch((error: unknown): Outcome => ({ kind: 'error', error }))
    this.#running.delete(abort)
    metrics.activeWorkers(this.#running.size)
    this.#settle(key, outcome, logger, (clock.monotonicNow() - startedAt) / 1000)
  }

  /** Calls the reconciler once. A thrown value or a rejection is converted to an outcome. */
  async #attempt(request: ReconcileRequest, reconcileID: string, logger: Logger, abort: AbortController): Promise<Outcome> {
    const { reconcile, client, cache, clock, events, reconciliationTimeoutMs, metrics } = this.#options
    const { signal } = abort
    const limit =
      reconciliationTimeoutMs === undefined
        ? undefined
        : clock.after(reconciliationTimeoutMs, () => {
            metrics.timedOut()
            abort.abort(new ProreusError('PRO_ABORTED', `The reconcile took longer than its limit of ${reconciliationTimeoutMs} ms.`))
          })
    try {
      return outcomeOf(
        await reconcile(request, { client: clientWithSignal(client, signal), cache, logger, signal, reconcileID, clock, events }),
      )
    } catch (error) {
      if (signal.aborted && signal.reason === this.#ended) return { kind: 'aborted', error }
      return { kind: isTerminal(error) ? 'terminal' : 'error', error }
    } finally {
      limit?.cancel()
    }
  }

  #settle(key: string, outcome: Outcome, logger: Logger, seconds: number): void {
    const { queue, metrics } = this.#options
    switch (outcome.kind) {
      case 'success':
        queue.forget(key)
        metrics.reconciled('success', seconds)
        logger.debug({ seconds }, 'reconciled')
        return
      case 'requeue_after':
        queue.forget(key)
        // The default priority: a periodic reconcile of an object is no longer one of the initial reconciles, which have a lower priority.
        queue.add(key, { after: outcome.ms })
        metrics.reconciled('requeue_after', seconds)
        logger.debug({ seconds, requeueAfterMs: outcome.ms }, 'reconciled, again later')
        return
      case 'requeue':
        queue.addRateLimited(key)
        metrics.reconciled('requeue', seconds)
        logger.debug({ seconds }, 'reconciled, again with back-off')
        return
      case 'terminal':
        queue.forget(key)
        metrics.failedTerminally()
        metrics.reconciled('error', seconds)
        logger.error(
          { err: outcome.error, seconds },
          `the reconcile failed and is not tried again until the object changes${permissionAdvice(outcome.error, 'controller')}`,
        )
        return
      case 'error':
        queue.addRateLimited(key)
        if (isProgrammingError(outcome.error)) metrics.panicked()
        metrics.reconciled('error', seconds)
        logger.error(
          { err: outcome.error, seconds },
          `the reconcile failed and is tried again${permissionAdvice(outcome.error, 'controller')}`,
        )
        return
      case 'aborted':
        metrics.reconciled('error', seconds)
        logger.warn({ err: outcome.error, seconds }, 'the reconcile was cut off because the process ends')
    }
  }

  #abortRunning(): void {
    const reason = new ProreusError('PRO_ABORTED', 'The process ends; the reconcile did not end in time.')
    this.#ended = reason
    for (const abort of this.#running) abort.abort(reason)
  }
}

function outcomeOf(result: Result): Outcome {
  const requeue = requeueOf(result)
  return typeof requeue === 'number' ? { kind: 'requeue_after', ms: requeue } : { kind: requeue }
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
