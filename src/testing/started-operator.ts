/** An operator that runs in a test. */
import type { Clock } from '../runtime/clock.ts'
import type { Connection } from '../client/connection.ts'
import type { Endpoints } from '../manager/run-options.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface StartOperatorOptions {
  /**
   * The name of the installation, for tests of several installations in one control plane. Default: the operator's name; for several
   * operators `test`.
   */
  readonly name?: string
  /**
   * The operators' connection to the API server. Default: the administrator's. The kinds and webhooks are always installed with the
   * administrator's connection.
   */
  readonly connection?: Connection
  /** Namespaces that the controllers watch. Default: all. */
  readonly namespaces?: readonly string[]
  /** The logger. Default: no output. */
  readonly logger?: Logger
  /**
   * The operators' clock: for reconcilers, back-off, deadlines, certificates. Default: the system's. The API server always uses the
   * system's time, and would reject certificates that are not valid at that time, so a `FakeClock` must start at `Date.now()`.
   */
  readonly clock?: Clock
}

export interface StartedOperator {
  /** Addresses of webhooks, probes and metrics, on free ports of loopback. */
  readonly endpoints: Endpoints
  /** Settles when the operators have ended; rejects when they ended with an error. */
  readonly ended: Promise<void>
  /** Stops the operators as SIGTERM does, but without the pause for load balancers. Installed objects are kept. */
  stop(): Promise<void>
}
