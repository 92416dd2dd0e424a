/** What `run` is told, and its defaults. */
import { hostname } from 'node:os'
import type { Clock } from '../api/clock.ts'
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { TlsOptions } from '../webhook/tls.ts'
import type { CertificateOptions } from './certificates.ts'
import type { ListenAddress } from './listen-address.ts'
import { systemClock } from '../api/clock.ts'
import { createLogger } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { mutatingName, validatingName } from './names.ts'

export interface WebhookOptions extends TlsOptions {
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free one. */
  readonly port?: number
  /** Where the API server reaches the webhooks, for an operator outside the cluster; its host goes into the certificate. */
  readonly url?: string
  /**
   * The share of allowed reviews that get a log line, from 0 (none, the default) to 1 (all); which ones, their uid decides.
   * Those that are denied or fail are logged in any case.
   */
  readonly reviewLogSampling?: number
}

/** Which webhook configurations get their `caBundle` from this process. */
export interface InjectionTargets {
  readonly mutating: readonly string[]
  readonly validating: readonly string[]
  /** CustomResourceDefinitions, whose conversion webhooks need one too. Default: those of the operators' kinds with a conversion. */
  readonly definitions?: readonly string[]
}

/** Where the process can be reached. */
export interface Endpoints {
  /** Undefined when no operator has webhooks. */
  readonly webhook: { readonly port: number; readonly url: string; readonly caBundle: string } | undefined
  /** Undefined when switched off. */
  readonly probes: ListenAddress | undefined
  readonly metrics: ListenAddress | undefined
}

export interface RunOptions {
  readonly connection: Connection
  /** Its abort starts the ordered stop. */
  readonly signal: AbortSignal
  readonly certificates: CertificateOptions
  readonly webhook?: WebhookOptions
  /** Default: `proreus-mutating` and `proreus-validating`. Empty lists leave `caBundle` to others, e.g. cert-manager. */
  readonly webhookConfigurations?: InjectionTargets
  /** Default `:8081`; `0` switches the probes off. */
  readonly probeBindAddress?: string
  /** Default `:8080`; `0` switches the metrics off. */
  readonly metricsBindAddress?: string
  /**
   * How many bytes of memory the process may take: the limits of the webhook server follow from it. Default: the memory limit of the
   * container; without one half of the machine's memory, at most 1 GiB.
   */
  readonly memoryLimitBytes?: number
  /** Which namespaces the controllers watch. Absent or empty: all. */
  readonly namespaces?: readonly string[]
  /** How long the webhooks go on accepting after the stop began, so that nobody still sends to a closed port. Default 10 s. */
  readonly drainDelayMs?: number
  /** How long what is in flight may take after that. Default 30 s. */
  readonly drainDeadlineMs?: number
  /** Which replica this is, for events. Default: the host name, in a cluster that of the Pod. */
  readonly instance?: string
  readonly logger?: Logger
  readonly clock?: Clock
  readonly metrics?: Metrics
  /** Called when the webhooks are served, before anything is watched: the moment to install their configurations. `client` is the process' own. */
  readonly onServing?: (endpoints: Endpoints, client: Client) => Promise<void> | void
  /** Called when everything has been started. */
  readonly onStarted?: (endpoints: Endpoints, client: Client) => Promise<void> | void
}

export type CompleteOptions = RunOptions &
  Required<
    Pick<RunOptions, 'webhook' | 'webhookConfigurations' | 'drainDelayMs' | 'drainDeadlineMs' | 'instance' | 'logger' | 'clock' | 'metrics'>
  >

export function withDefaults(options: RunOptions): CompleteOptions {
  return {
    ...options,
    webhook: options.webhook ?? {},
    webhookConfigurations: options.webhookConfigurations ?? { mutating: [mutatingName], validating: [validatingName] },
    drainDelayMs: options.drainDelayMs ?? 10_000,
    drainDeadlineMs: options.drainDeadlineMs ?? 30_000,
    instance: options.instance ?? hostname(),
    logger: options.logger ?? createLogger(),
    clock: options.clock ?? systemClock,
    metrics: options.metrics ?? processMetrics(),
  }
}

function processMetrics(): Metrics {
  const metrics = new Metrics()
  metrics.collectProcess()
  return metrics
}
