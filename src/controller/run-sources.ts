/** `runSources`: runs the external sources of a controller while it works, and starts them again after errors. */
import type { ResourceType } from '../api/group-version-kind.ts'
import { messageOf } from '../api/errors.ts'
import { formatKey } from '../api/object.ts'
import { BackOff } from '../cache/back-off.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'
import { sleep } from '../runtime/waiting.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { MapOptions } from './enqueue.ts'
import { validKeys } from './enqueue.ts'
import type { WorkQueue } from './queue.ts'
import type { Source, SourceContext } from './source.ts'

export interface RunSourcesOptions extends MapOptions {
  readonly cache: SourceContext['cache']
  /** The primary type of the controller. */
  readonly type: ResourceType
  readonly queue: Pick<WorkQueue<string>, 'add'>
  readonly clock: SourceContext['clock']
  readonly logger: Logger
  /** Returns a number in [0, 1), for the jitter of pauses. */
  readonly random: () => number
}

/** Runs all sources until the signal aborts. Resolves when the last one has ended, and does not reject. */
export async function runSources(sources: readonly Source[], options: RunSourcesOptions, signal: AbortSignal): Promise<void> {
  await Promise.all(sources.map((source, index) => runSource(source, index, options, signal)))
}

async function runSource(source: Source, index: number, options: RunSourcesOptions, signal: AbortSignal): Promise<void> {
  const { type, queue, cache, namespaces, clock, logger, random } = options
  const backOff = new BackOff(random)
  const context = { signal, cache, clock }
  /** The message of the last failure, which is not logged again while it persists; empty after an event. */
  let problem = ''
  while (!signal.aborted) {
    try {
      await source.run((keys) => {
        if (signal.aborted) return
        const onInvalid = (err: Error): void => logger.error({ err, source: index }, `sources[${index}] returned an invalid key`)
        for (const key of validKeys(type, keys, namespaces, onInvalid)) queue.add(formatKey(key))
        backOff.reset()
        problem = ''
      }, context)
      if (!signal.aborted) logger.info({ source: index }, `sources[${index}] has ended and enqueues nothing more`)
      return
    } catch (err) {
      if (signal.aborted) return
      const pauseMs = backOff.next()
      const level = messageOf(err) === problem ? 'debug' : 'error'
      problem = messageOf(err)
      const advice = permissionAdvice(err, 'controller')
      logger[level]({ err: loggedError(err), source: index, pauseMs }, `sources[${index}] failed and is started again${advice}`)
      await sleep(clock, pauseMs, signal).catch(() => undefined)
    }
  }
}
