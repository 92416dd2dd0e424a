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

/** What was ended at its deadline needs a moment to notice. */
const unwindMs = 1_000
/** How long what is left may take, all of it together: an API server that does not answer must not hold up the end. */
const restMs = 3_000
/** The client gives requests that run one second. */
const closeMs = 2_000

/**
 * Takes everything down within `delayMs` + `deadlineMs` + a few seconds; never rejects.
 *
 * 1. `/readyz` fails at once, so that endpoints are withdrawn; every webhook answer now ends its connection.
 * 2. Controllers take nothing new and finish what runs. They do so while the webhooks still serve, for their writes may need them.
 * 3. For `delayMs` the webhooks accept what clients still send that do not know yet; then they finish what is in flight.
 * 4. What is left goes: cache, certificates, events, and last the probes and the connections to the API server.
 */
export async function drain(running: Running, options: DrainOptions): Promise<void> {
  const { delayMs, deadlineMs, clock, logger } = options
  const { webhookServer } = running
  const startedAt = clock.now()
  const attempt = async (what: string, ms: number, step: () => Promise<unknown> | undefined): Promise<void> => {
    try {
      if (!(await within(clock, ms, step()))) logger.warn(`${what} did not stop in time and is left behind`)
    } catch (error) {
      logger.warn({ err: error }, `${what} did not stop as it should`)
    }
  }
  running.draining = true
  webhookServer?.beginDrain()
  const controllers = Promise.all([...running.controllers.values()].map((task) => task.stop()))

  if (webhookServer !== undefined) {
    if (delayMs > 0) {
      logger.info({ delayMs }, 'not ready any more; the webhooks accept a while longer')
      await sleep(clock, delayMs)
    }
    await attempt('the webhook server', deadlineMs + unwindMs, () => webhookServer.stop(deadlineMs))
  }
  const left = delayMs + deadlineMs + unwindMs - (clock.now() - startedAt)
  await attempt('a reconcile', left, () => controllers)

  await Promise.all([
    attempt('the cache', restMs, () => running.cache?.task.stop()),
    attempt('the caBundle injection', restMs, () => running.injection?.stop()),
    attempt('the certificates', restMs, () => running.certificates?.task.stop()),
    ...[...running.identities.values()].map(({ events }) => attempt('the writing of events', restMs, () => events.flush())),
  ])
  await attempt('the probes', closeMs, () => running.probes?.close())
  await attempt('the client', closeMs, () => running.client.close())
  logger.info('stopped')
}

/** Whether `promise` resolves within `ms`. */
async function within(clock: Clock, ms: number, promise: Promise<unknown> | undefined): Promise<boolean> {
  if (promise === undefined) return true
  const late = new AbortController()
  const timedOut = sleep(clock, ms, late.signal).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([promise.then(() => true), timedOut])
  } finally {
    late.abort()
  }
}
