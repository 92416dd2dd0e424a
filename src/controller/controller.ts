/** The worker loop: takes keys from the queue, reconciles them, and does with each outcome what it asks for. */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../api/clock.ts'
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
import { requeueOf, TerminalError } from './reconciler.ts'
import { nextTurn } from './turn.ts'

export interface ControllerOptions {
  readonly queue: WorkQueue<string>
  readonly reconcile: Reconciler
  /** How many objects are reconciled at the same time. */
  readonly workers: number
  /** A reconcile that runs longer has its signal aborted. Default: no limit. */
  readonly reconciliationTimeoutMs?: number | undefined
  /** After the stop, running reconciles have this long to end before their signals abort. */
  readonly graceMs: number
  readonly client: Client
  readonly cache: CacheReader
  readonly events: EventRecorder
  readonly clock: Clock
  /** Carries the controller's name. */
  readonly logger: Logger
  readonly metrics: ControllerMetrics
}

/** How a reconcile ended. */
type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'requeue_after'; readonly ms: number }
  | { readonly kind: 'requeue' }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'terminal'; readonly error: TerminalError }
  | { readonly kind: 'aborted'; readonly error: unknown }

/** One controller at work. */
export class Controller {
  readonly #options: ControllerOptions
  /** The signals of the reconciles that run. */
  readonly #running = new Set<AbortController>()
  /** No reconcile starts any more. */
  #stopping = false
  /** Why running reconciles were told to end, once they were. */
  #ended: ProreusError | undefined

  constructor(options: ControllerOptions) {
    this.#options = options
  }

  /**
   * Reconciles until `signal` aborts; resolves when the last running reconcile has ended. Rejects then with what one of the workers
   * failed with, which stops the others as the signal does. What is still queued is dropped: the next start lists everything anew.
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

  /** Ends when the queue does. */
  async #work(): Promise<void> {
    const { queue, clock } = this.#options
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      // With the key in hand: all workers take one before the first of them reconciles.
      for (let over = nextTurn(clock); over !== undefined; over = nextTurn(clock)) await over
      try {
        if (!this.#stopping) await this.#process(key)
      } catch (error) {
        this.#sayPlainly(key, error)
      } finally {
        queue.done(key)
      }
    }
  }

  /**
   * For an outcome that could not be reported, e.g. because the error has a getter that throws; what becomes of the key is settled by then.
   * A logger that fails here too ends the controller, which the liveness probe shows.
   */
  #sayPlainly(key: string, error: unknown): void {
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
    const startedAt = clock.now()
    // Even to look at what was thrown can throw.
    const outcome = await this.#attempt(request, reconcileID, logger, abort).catch((error: unknown): Outcome => ({ kind: 'error', error }))
    this.#running.delete(abort)
    metrics.activeWorkers(this.#running.size)
    this.#settle(key, outcome, logger, Math.max(0, clock.now() - startedAt) / 1000)
  }

  /** Runs the reconciler once. Whatever it throws, at once or later, becomes an outcome. */
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
      return error instanceof TerminalError ? { kind: 'terminal', error } : { kind: 'error', error }
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
        queue.add(key, { after: outcome.ms, priority: queue.priorityOf(key) })
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
 * What a wrong program throws, as against a world that is not as it should be: what Go calls a panic.
 * One with a cause was thrown because of something else: `fetch` reports each network error as a TypeError with one.
 */
function isProgrammingError(error: unknown): boolean {
  return (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) && error.cause === undefined
}
