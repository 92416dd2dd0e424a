/** The options and the result of `controlPlane.startOperator`. */
import type { Clock } from '../runtime/clock.ts'
import type { Connection } from '../client/connection.ts'
import type { LeaderElectionOptions } from '../manager/leader-election.ts'
import type { Endpoints } from '../manager/run-options.ts'
import type { Logger } from '../telemetry/logger.ts'

export interface StartOperatorOptions {
  /**
   * The name of the installation, for tests with several installations in one control plane. Default: the operator's name, or `test` if
   * there are several operators.
   */
  readonly name?: string
  /**
   * The connection with which the operators run. Default: the connection of the administrator. The kinds and webhooks are always installed
   * with the administrator's connection.
   */
  readonly connection?: Connection
  /** Namespaces that the controllers watch. Default: all namespaces. */
  readonly namespaces?: readonly string[]
  /** Leader election, for tests with several replicas. Default: off. The namespace of the Lease must exist. */
  readonly leaderElection?: boolean | LeaderElectionOptions
  /** The logger. Default: the logger of the control plane. */
  readonly logger?: Logger
  /**
   * The clock of the operators, for reconcilers, back-off, deadlines and certificates. Default: the clock of the control plane. A
   * `FakeClock` must start at `Date.now()`: the operators issue their certificates with this clock, but the API server validates them with
   * the system time.
   */
  readonly clock?: Clock
  /**
   * The function that returns random numbers in [0, 1). It is used for jitter, the timeouts of watches, and ids such as `reconcileID`.
   * Default: the `random` function of the control plane.
   */
  readonly random?: () => number
}

export interface StartedOperator {
  /** The addresses of webhooks, probes and metrics, on free ports of the loopback interface. */
  readonly endpoints: Endpoints
  /** Resolves when the operators have ended. Rejects when they have ended with an error. */
  readonly ended: Promise<void>
  /**
   * Stops the operators gracefully, as SIGTERM does, but without the drain delay. (In a cluster, the endpoints of a stopping Pod are
   * removed during this delay.) Objects that the operators have installed are kept.
   */
  stop(): Promise<void>
}
