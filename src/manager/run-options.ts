/** The options of `run`, and their defaults in a cluster (when the connection is that of a Pod's service account) and outside. */
import { hostname } from 'node:os'
import type { Clock } from '../runtime/clock.ts'
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { TlsOptions } from '../webhook/http/tls.ts'
import type { CertificateOptions } from './certificates.ts'
import type { ListenAddress } from './listen-address.ts'
import { systemClock } from '../runtime/clock.ts'
import { createLogger } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import type { InstallationNames } from './installation-names.ts'
import { installationName, namesOf } from './installation-names.ts'
import type { Operator } from './operator.ts'

export interface WebhookOptions extends TlsOptions {
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free port. */
  readonly port?: number
  /** The URL at which the API server reaches the webhooks of an operator outside the cluster; its host is included in the certificate. */
  readonly url?: string
  /** The Service in front of the webhooks, in the namespace of the process. Default: `NAME-webhook`. */
  readonly service?: string
  /**
   * Share of allowed admission requests that are logged at level `info`, from 0 (none, the default) to 1 (all), sampled by their uid.
   * Denied and failed ones are always logged.
   */
  readonly reviewLogSampling?: number
}

/** The webhook configurations whose `caBundle` this process maintains. */
export interface InjectionTargets {
  readonly mutating: readonly string[]
  readonly validating: readonly string[]
  /** CustomResourceDefinitions with a conversion webhook. Default: those of the operators' kinds with a conversion. */
  readonly definitions?: readonly string[]
}

/** The addresses of the process. */
export interface Endpoints {
  /** Undefined when no operator has webhooks. */
  readonly webhook: { readonly port: number; readonly url: string; readonly caBundle: string } | undefined
  /** Undefined when disabled. */
  readonly probes: ListenAddress | undefined
  readonly metrics: ListenAddress | undefined
}

export interface RunOptions {
  readonly connection: Connection
  /**
   * The name of the installation, which is part of the names of its webhook configurations, namespace, Service and Secret. With different
   * names, several installations, even of the same operator, can run in one cluster. A DNS label of at most 52 characters that begins with
   * a letter. Default: the operator's name; required when there are several operators.
   */
  readonly name?: string
  /** The namespace of the process. Default: the namespace of the service account in a cluster, else `NAME-system`. */
  readonly namespace?: string
  /** The graceful shutdown starts when this signal aborts. Default: a signal that aborts on SIGTERM and SIGINT (`onTermination`). */
  readonly signal?: AbortSignal
  /** Default: the Secret `NAME-webhook-ca` in a cluster, the folder `certs` outside. */
  readonly certificates?: CertificateOptions
  readonly webhook?: WebhookOptions
  /** Default: `NAME-mutating` and `NAME-validating`. Pass empty lists when another program maintains `caBundle`, e.g. cert-manager. */
  readonly webhookConfigurations?: InjectionTargets
  /** Default `:8081` in a cluster, `127.0.0.1:8081` outside. Clients are not authenticated. `0` disables the probes. */
  readonly probeBindAddress?: string
  /** Default `:8080` in a cluster, `127.0.0.1:8080` outside. Clients are not authenticated. `0` disables the metrics. */
  readonly metricsBindAddress?: string
  /**
   * Memory limit of the process in bytes, from which the limits of the webhook server are derived. Default: the memory limit of the
   * container; without one half of the machine's memory, at most 1 GiB.
   */
  readonly memoryLimitBytes?: number
  /** Namespaces that the controllers watch. Absent or empty: all. */
  readonly namespaces?: readonly string[]
  /**
   * Time for which the webhook server accepts connections after the shutdown has begun, for clients that still have the old endpoints.
   * Default 10 s in a cluster, where removing endpoints takes time, and 0 outside.
   */
  readonly drainDelayMs?: number
  /** Time limit for requests in flight after that. Default 30 s. */
  readonly drainDeadlineMs?: number
  /** The name of the replica in events. Default: the host name, which in a cluster is the name of the Pod. */
  readonly instance?: string
  readonly logger?: Logger
  readonly clock?: Clock
  readonly metrics?: Metrics
  /**
   * Called when the webhooks are served and nothing is watched yet, for example to install the webhook configurations. `client` is the
   * client of the process.
   */
  readonly onServing?: (endpoints: Endpoints, client: Client) => Promise<void> | void
  /** Called when everything has started. */
  readonly onStarted?: (endpoints: Endpoints, client: Client) => Promise<void> | void
}

/** The options with all defaults; only `signal` may be missing. */
export type CompleteOptions = RunOptions &
  Required<
    Pick<
      RunOptions,
      | 'certificates'
      | 'webhook'
      | 'webhookConfigurations'
      | 'probeBindAddress'
      | 'metricsBindAddress'
      | 'drainDelayMs'
      | 'drainDeadlineMs'
      | 'instance'
      | 'logger'
      | 'clock'
      | 'metrics'
    >
  > & { readonly names: InstallationNames; readonly service: ServiceReference }

/**
 * Applies the defaults.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the installation has no name, or an invalid one.
 */
export function withDefaults(operators: readonly Operator[], options: RunOptions): CompleteOptions {
  const { connection, webhook = {} } = options
  const inCluster = connection.inCluster === true
  const names = namesOf(installationName(operators, options.name))
  const service = serviceOf(names, options)
  return {
    ...options,
    names,
    service,
    certificates:
      options.certificates ??
      (inCluster ? { kind: 'secret', namespace: service.namespace, name: names.caSecret } : { kind: 'files', directory: 'certs' }),
    webhook,
    webhookConfigurations: options.webhookConfigurations ?? {
      mutating: [names.mutatingConfiguration],
      validating: [names.validatingConfiguration],
    },
    probeBindAddress: options.probeBindAddress ?? (inCluster ? ':8081' : '127.0.0.1:8081'),
    metricsBindAddress: options.metricsBindAddress ?? (inCluster ? ':8080' : '127.0.0.1:8080'),
    drainDelayMs: options.drainDelayMs ?? (inCluster ? 10_000 : 0),
    drainDeadlineMs: options.drainDeadlineMs ?? 30_000,
    instance: options.instance ?? hostname(),
    logger: options.logger ?? createLogger(),
    clock: options.clock ?? systemClock,
    metrics: options.metrics ?? processMetrics(),
  }
}

/** A reference to a Service. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
}

/** Returns the Service in front of the webhooks of an installation. */
export function serviceOf(names: InstallationNames, { connection, namespace, webhook }: RunOptions): ServiceReference {
  const own = namespace ?? (connection.inCluster === true ? connection.namespace : undefined) ?? names.namespace
  return { namespace: own, name: webhook?.service ?? names.webhookService }
}

function processMetrics(): Metrics {
  const metrics = new Metrics()
  metrics.collectProcess()
  return metrics
}
