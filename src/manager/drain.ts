/** The ordered stop: nothing that was begun is dropped as long as there is time for it. */
import type { Clock } from '../api/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Running } from './running.ts'
import { sleep } from '../api/clock.ts'

export interface DrainOptions {
  /** How long the webhooks go on accepting. */
  readonly delayMs: number
  /** How long what is in flight may take after that. */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** A reconcile whose signal has aborted needs a moment to notice. */
const unwindMs = 1_000
const flushMs = 5_000

/**
 * Takes everything down; never rejects.
 *
 * 1. `/readyz` fails at once, so that endpoints are withdrawn; every webhook answer now ends its connection.
 * 2. Controllers take nothing new and finish what runs. They do so while the webhooks still serve, for their writes may need them.
 * 3. For `delayMs` the webhooks accept what clients still send that do not know yet; then they finish what is in flight.
 * 4. What is left goes: cache, events, certificates, and last the probes and the connections to the API server.
 */
export async function drain(running: Running, options: DrainOptions): Promise<void> {
  const { delayMs, deadlineMs, clock, logger } = options
  const { webhookServer } = running
  const attempt = async (what: string, step: () => Promise<unknown> | undefined): Promise<void> => {
    try {
      await step()
    } catch (error) {
      logger.warn({ err: error }, `${what} did not stop as it should`)
    }
  }
  running.draining = true
  webhookServer?.beginDrain()
  const startedAt = clock.now()
  const controllers = Promise.all([...running.controllers.values()].map((task) => task.stop()))

  if (webhookServer !== undefined) {
    if (delayMs > 0) {
      logger.info({ delayMs }, 'not ready any more; the webhooks accept a while longer')
      await sleep(clock, delayMs)
    }
    await attempt('the webhook server', () => webhookServer.stop(deadlineMs))
  }
  const left = delayMs + deadlineMs + unwindMs - (clock.now() - startedAt)
  if (!(await within(clock, left, controllers))) logger.warn('reconciles still run beyond their deadline and are left behind')

  await attempt('the cache', () => running.cache?.task.stop())
  await attempt('the caBundle injection', () => running.injection?.stop())
  if (!(await within(clock, flushMs, running.events.flush()))) logger.warn('some events could not be written in time')
  await attempt('the certificates', () => running.certificates?.task.stop())
  await attempt('the probes', () => running.probes?.close())
  await attempt('the client', () => running.client.close())
  logger.info('stopped')
}

/** Whether `promise` resolves within `ms`. */
async function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const late = new AbortController()
  const timedOut = sleep(clock, ms, late.signal).then(
    () => false,
    () => false,
  )
  const inTime = await Promise.race([promise.then(() => true), timedOut])
  late.abort()
  return inTime
}
