/** The graceful shutdown. It waits for running requests and reconciles, up to a time limit. */
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { BackgroundTask } from './background.ts'
import type { Running } from './running-parts.ts'
import { sleep, timedOut, within } from '../runtime/waiting.ts'

export interface DrainOptions {
  /** Time in milliseconds for which the webhook server still accepts connections after the shutdown has begun. */
  readonly delayMs: number
  /** Time limit in milliseconds for running requests and reconciles. The time begins when `delayMs` has passed. */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Time limit in milliseconds for requests and reconciles to end after their signals have aborted. */
const unwindMs = 1_000
/**
 * Time limit in milliseconds for the release of the lease, and for each part that stops next: the cache, the leader election, the
 * `caBundle` injection, the certificates and the events. These parts stop at the same time. Because of the limit, an API server that does
 * not respond cannot delay the end of the process for long.
 */
const restMs = 3_000
/**
 * Time limit in milliseconds for closing the servers of probes, metrics and debugging. Afterwards, the client is closed with the same time
 * limit. The limit is longer than one second, because `Client.close` waits up to one second for running requests.
 */
const closeMs = 2_000

/**
 * Stops everything within `delayMs` + `deadlineMs` + a few seconds. The promise never rejects. These parts begin to stop at the same time:
 *
 * - Readiness: `/readyz` fails, so the Pod is removed from the endpoints of the Service.
 * - Webhook server: Every response closes its connection, so that the API server can open its next connection to another replica. For
 *   `delayMs`, the server still accepts requests, because clients may use the old endpoints, and running reconciles may write objects for
 *   which the API server calls the webhooks. Then the server only finishes running requests.
 * - Controllers and runnables: Controllers start no new reconciles, and finish the running ones. The signals of runnables abort. When all
 *   have ended, the leader releases its lease, so another replica becomes the leader at once.
 *
 * Then the cache, the leader election, the `caBundle` injection, the certificates and the events stop. Then the probes stop. Finally, the
 * connections to the API server are closed.
 */
export async function drain(running: Running, options: DrainOptions): Promise<void> {
  const { delayMs, deadlineMs, clock, logger } = options
  const { webhookServer } = running
  const startedAt = clock.monotonicNow()
  /** Waits for a step. Returns false when the step takes longer than `ms`. A step that fails counts as ended. */
  const attempt = async (what: string, ms: number, step: () => Promise<unknown> | undefined): Promise<boolean> => {
    try {
      const end = step()
      if (end === undefined || (await within(clock, ms, end, { keepAlive: true })) !== timedOut) return true
      logger.warn(`${what} did not stop in time and is left behind`)
      return false
    } catch (error) {
      logger.warn({ err: error }, `${what} did not stop as it should`)
      return true
    }
  }
  running.draining = true
  webhookServer?.beginDrain()
  const controllers = stopAll(running.controllers)
  const runnables = stopAll(running.runnables)
  const resigned = Promise.all([controllers, runnables]).then(() => running.election?.elector.resign())

  if (webhookServer !== undefined) {
    if (delayMs > 0) {
      logger.info({ delayMs }, 'not ready any more; the webhooks accept a while longer')
      await sleep(clock, delayMs)
    }
    await attempt('the webhook server', deadlineMs + unwindMs, () => webhookServer.stop(deadlineMs))
  }
  const left = delayMs + deadlineMs + unwindMs - (clock.monotonicNow() - startedAt)
  const ended = await Promise.all([
    ...[...running.controllers].map(([name, { ended: end }]) => attempt(`a reconcile of the controller "${name}"`, left, () => end)),
    ...[...running.runnables].map(([name, { ended: end }]) => attempt(`the runnable "${name}"`, left, () => end)),
  ])
  // If a reconcile or a runnable has not ended in time, the lease is not released. The lease then expires after the process has ended.
  if (!ended.includes(false)) await attempt('the release of the lease', restMs, () => resigned)

  await Promise.all([
    attempt('the cache', restMs, () => running.cache?.task.stop()),
    attempt('the leader election', restMs, () => running.electionTask?.stop()),
    attempt('the caBundle injection', restMs, () => running.injection?.stop()),
    attempt('the certificates', restMs, () => running.certificates?.task.stop()),
    ...[running.election, ...running.identities.values()].map((each) =>
      attempt('the writing of events', restMs, () => each?.events.flush()),
    ),
  ])
  await attempt('the probes', closeMs, () => Promise.all([running.probes?.close(), running.monitoring?.close()]))
  await attempt('the client', closeMs, () => running.client.close())
  logger.info('stopped')
}

async function stopAll(tasks: ReadonlyMap<string, BackgroundTask>): Promise<void> {
  await Promise.all([...tasks.values()].map((task) => task.stop()))
}
