/** The leader election of a process: its options and defaults, and its elector. */
import { ProreusError } from '../api/errors.ts'
import { clientAs } from '../client/client-as.ts'
import type { Transport } from '../client/transport.ts'
import type { LeaderElector, LeaderElectorOptions, LeaseTimes } from '../leader-election/leader-elector.ts'
import { newUuid } from '../runtime/random.ts'
import type { EventRecorder } from '../telemetry/event-recorder.ts'
import { createEventRecorder } from '../telemetry/event-recorder.ts'
import type { InstallationNames } from './installation-names.ts'
import type { CompleteOptions, ServiceReference } from './run-options.ts'

/** The options of leader election. The defaults of the durations are those of Kubernetes' own components. */
export interface LeaderElectionOptions extends Partial<LeaseTimes> {
  /** The name of the Lease. Default: `NAME-leader`, where `NAME` is the name of the installation. */
  readonly name?: string
  /** The namespace of the Lease. Default: the namespace of the process. */
  readonly namespace?: string
  /** The labels with which the Lease is created. Default: none. */
  readonly labels?: Readonly<Record<string, string>>
}

export interface CompleteLeaderElection extends LeaseTimes {
  readonly lease: LeaderElectorOptions['lease']
}

/** The part of the `LeaderElector` interface that the process uses. */
export type Election = Pick<LeaderElector, 'run' | 'term' | 'guard' | 'resign'>

/** Lease duration, renew deadline and retry period of Kubernetes' own components (`RecommendedDefaultLeaderElectionConfig`). */
const defaults: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }
/** client-go's `leaderelection.JitterFactor`. As in client-go, the renew deadline must be longer than this multiple of the retry period. */
const jitterFactor = 1.2

/**
 * Applies the defaults. Returns undefined when leader election is disabled.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when `leaseDurationMs` is not a whole number of seconds, or when a duration is too short in
 * comparison with another duration.
 */
export function completeLeaderElection(
  option: boolean | LeaderElectionOptions,
  names: InstallationNames,
  service: ServiceReference,
): CompleteLeaderElection | undefined {
  if (option === false) return undefined
  const { name = names.leaderLease, namespace = service.namespace, labels, ...given } = option === true ? {} : option
  const times = { ...defaults, ...given }
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times
  if (leaseDurationMs < 1000 || leaseDurationMs % 1000 !== 0)
    throw invalid(`leaseDurationMs is ${leaseDurationMs}, and must be whole seconds, because a Lease counts in seconds`)
  if (leaseDurationMs <= renewDeadlineMs)
    throw invalid(`leaseDurationMs (${leaseDurationMs}) must be longer than renewDeadlineMs (${renewDeadlineMs})`)
  if (renewDeadlineMs <= jitterFactor * retryPeriodMs)
    throw invalid(`renewDeadlineMs (${renewDeadlineMs}) must be longer than ${jitterFactor} × retryPeriodMs (${retryPeriodMs})`)
  return { ...times, lease: { namespace, name, ...(labels && { labels }) } }
}

function invalid(problem: string): ProreusError {
  return new ProreusError('PRO_CONFIG_INVALID', `The options of leader election are invalid: ${problem}.`)
}

export interface ProcessElection {
  readonly elector: Election
  /** Records the Events about the Lease. */
  readonly events: EventRecorder & { flush(): Promise<void> }
}

/** Creates the elector of the process. Returns undefined when leader election is disabled. */
export function createElection(
  { leaderElection, names, instance, clock, random, logger: processLogger, metrics }: CompleteOptions,
  transport: Transport,
  createElector: (options: LeaderElectorOptions) => Election,
): ProcessElection | undefined {
  if (leaderElection === undefined) return undefined
  const logger = processLogger.child({ lease: `${leaderElection.lease.namespace}/${leaderElection.lease.name}` })
  // The time limit of a request is half of the renew deadline, but at least one second, as in controller-runtime. If a request gets no
  // response, there is then still time for a second request before the renew deadline.
  const client = clientAs(transport, { name: names.installation }, { timeoutMs: Math.max(1000, leaderElection.renewDeadlineMs / 2) })
  const events = createEventRecorder(client, { component: names.installation, instance, logger, clock, random })
  const identity = `${instance}_${newUuid(random)}`
  const election = metrics.leaderElection(leaderElection.lease.name)
  return { events, elector: createElector({ ...leaderElection, client, identity, clock, random, logger, events, metrics: election }) }
}
