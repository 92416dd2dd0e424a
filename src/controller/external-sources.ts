/** `ExternalSources`: runs the external sources of a controller. After an error, a source is started again. */
import type { ResourceType } from '../api/group-version-kind.ts'
import { messageOf } from '../api/errors.ts'
import type { ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import { BackOff } from '../cache/back-off.ts'
import { loggedError, permissionAdvice } from '../client/missing-rule.ts'
import { sleep, untilAborted } from '../runtime/waiting.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { MapOptions } from './enqueue.ts'
import { validKeys } from './enqueue.ts'
import type { WorkQueue } from './queue.ts'
import type { Source, SourceContext } from './source.ts'

export interface ExternalSourcesOptions extends MapOptions {
  readonly cache: SourceContext['cache']
  /** The primary type of the controller. */
  readonly type: ResourceType
  readonly queue: Pick<WorkQueue<string>, 'add'>
  readonly clock: SourceContext['clock']
  readonly logger: Logger
  /** Returns a number in [0, 1), for the jitter of pauses. */
  readonly random: () => number
}

/** The external sources of a controller. They run in each term. A term is a period in which this replica may reconcile. */
export class ExternalSources {
  readonly #sources: readonly Source[]
  readonly #options: ExternalSourcesOptions
  /** The calls of `run` that have not ended, keyed by the index of the source. The promises never reject. */
  readonly #calls = new Map<number, Promise<void>>()

  constructor(sources: readonly Source[], options: ExternalSourcesOptions) {
    this.#sources = sources
    this.#options = options
  }

  /**
   * Runs all sources. Resolves when all sources have ended, or when the signal aborts; never rejects.
   *
   * A term is a period in which this replica may reconcile. The signal aborts at the latest when the term ends. If a source ignores the
   * signal, the source continues to run after the term. In the next term, this source is started again only after its earlier run has
   * ended. The other sources are started immediately.
   */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#sources.map((_, index) => this.#run(index, signal)))
  }

  async #run(index: number, signal: AbortSignal): Promise<void> {
    const { type, queue, cache, namespaces, clock, logger, random } = this.#options
    const backOff = new BackOff(random)
    const context = { signal, cache, clock }
    /**
     * The message of the last failure; empty after a call of `enqueue`. If the next failure has the same message, the failure is logged at
     * level `debug`.
     */
    let problem = ''
    const enqueue = (keys: readonly ObjectKey[]): void => {
      if (signal.aborted) return
      const onInvalid = (err: Error): void => logger.error({ err, source: index }, `sources[${index}] returned an invalid key`)
      for (const key of validKeys(type, keys, namespaces, onInvalid)) queue.add(formatKey(key))
      backOff.reset()
      problem = ''
    }
    const ignore = (): void => undefined
    while (!signal.aborted) {
      try {
        const earlier = this.#calls.get(index)
        if (earlier !== undefined) await untilAborted(earlier, signal, ignore)
        const call = Promise.resolve(this.#sources[index]!.run(enqueue, context))
        this.#calls.set(
          index,
          call.catch(ignore).then(() => void this.#calls.delete(index)),
        )
        await untilAborted(call, signal, ignore)
        if (!signal.aborted) logger.info({ source: index }, `sources[${index}] has ended and enqueues nothing more`)
        return
      } catch (err) {
        if (signal.aborted) return
        const pauseMs = backOff.next()
        const level = messageOf(err) === problem ? 'debug' : 'error'
        problem = messageOf(err)
        const advice = permissionAdvice(err, 'controller')
        logger[level]({ err: loggedError(err), source: index, pauseMs }, `sources[${index}] failed and is started again${advice}`)
        await sleep(clock, pauseMs, signal).catch(ignore)
      }
    }
  }
}
