/** `Runnable`: a background task of an operator, for example an importer or a periodic job. */
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isBoolean, isFunction, isListOf, isResourceType, isText } from '../api/option-checks.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { OperatorCache } from '../cache/leasing-cache.ts'
import type { Client } from '../client/client.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** The argument of a runnable's `run`. */
export interface RunnableContext {
  /** The client of the operator. Its field manager is the operator's name. */
  readonly client: Client
  /**
   * A cache of the types in `reads`, and of the types that `run` leases with `cache.acquire`. The types in `reads` have synced before `run`
   * is called.
   */
  readonly cache: OperatorCache
  /** A logger whose lines have the field `runnable`. */
  readonly logger: Logger
  /** Aborts when the process stops, or when this replica is no longer the leader. `run` must then return soon. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly metrics: Metrics
}

export interface Runnable {
  /** The name in the log and in the liveness probe. It consists of lower case letters, digits and dashes. */
  readonly name: string
  /**
   * Runs until `signal` aborts. If `run` rejects, the error is logged, and the liveness probe fails, so the kubelet restarts the container.
   * The rest of the process continues until the restart. If `mayEnd` is false, a `run` that returns before `signal` aborts is also an
   * error, with the same consequences.
   */
  readonly run: (context: RunnableContext) => Promise<void> | void
  /** If true, `run` is called on every replica. If false, `run` is called only on the leader. Default false. */
  readonly everyReplica?: boolean
  /** True for a task that is complete when `run` returns, for example a migration at the start. Default false. */
  readonly mayEnd?: boolean
  /** Types that `run` reads from the cache. Each replica watches these types. The RBAC rules for them are generated. */
  readonly reads?: readonly ResourceType[]
}

const runnableOptions = {
  name: isText,
  run: isFunction,
  everyReplica: isBoolean,
  mayEnd: isBoolean,
  reads: isListOf(isResourceType),
} satisfies Record<keyof Runnable, OptionCheck>

export const isRunnable: OptionCheck = hasOptions(runnableOptions, ['name', 'run'])
