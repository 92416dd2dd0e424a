/** Starts the runnables of an operator as background tasks. */
import type { ControllerCache } from '../controller/prepared-controller.ts'
import type { Terms } from '../controller/run-controller.ts'
import type { Client } from '../client/client.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { BackgroundTask } from './background.ts'
import type { Runnable } from './runnable.ts'
import { DeclaredCache } from '../cache/declared-cache.ts'
import { LeasingCache } from '../cache/leasing-cache.ts'
import { whenAllSynced } from '../controller/wait-for-sync.ts'
import { aborted } from '../runtime/waiting.ts'
import { inBackground } from './background.ts'

export interface RunnableEnvironment {
  readonly client: Client
  readonly cache: ControllerCache
  readonly logger: Logger
  readonly clock: Clock
  readonly metrics: Metrics
  /** Undefined without leader election. */
  readonly terms: Terms | undefined
}

/**
 * Starts a task that calls `run` when the types in `reads` have synced. With leader election and without `everyReplica`, `run` is called
 * only while this replica is the leader.
 */
export function startRunnable(runnable: Runnable, environment: RunnableEnvironment): BackgroundTask {
  const { name, run, everyReplica = false, mayEnd = false, reads = [] } = runnable
  const { client, cache, clock, metrics, terms } = environment
  const logger = environment.logger.child({ runnable: name })
  const declared = new DeclaredCache(
    cache,
    reads,
    (type) => `The runnable "${name}" does not read ${type} from the cache: name it in its \`reads\`, or read it with the client.`,
  )
  const task = async (signal: AbortSignal): Promise<void> => {
    const informers = reads.map((type) => cache.informer(type))
    if (!(await whenAllSynced(informers, { clock, logger }, signal))) return
    const leasing = new LeasingCache(declared, cache)
    try {
      await run({ client, cache: leasing, logger, signal, clock, metrics })
    } finally {
      leasing.releaseAll()
    }
    // If a task ends before the process stops, the liveness probe fails. Therefore, the task of a runnable with `mayEnd` waits here until
    // the process stops.
    if (mayEnd) await aborted(signal)
    if (!signal.aborted) throw new Error('it returned before the process stopped; a runnable that may do so has the option mayEnd: true')
  }
  return inBackground(`the runnable ${name}`, everyReplica || terms === undefined ? task : whileLeader(terms, task), logger)
}

type Task = (signal: AbortSignal) => Promise<void>

/** Returns a task that calls `task` in each term of this replica as the leader. */
function whileLeader(terms: Terms, task: Task): Task {
  return async (stop) => {
    while (!stop.aborted) {
      const { lost } = await terms.term(stop)
      try {
        await task(AbortSignal.any([stop, lost]))
      } catch (error) {
        if (!lost.aborted) throw error
      }
    }
  }
}
