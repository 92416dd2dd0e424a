/** The options of `run`, and their defaults: in a cluster, where the connection is that of a Pod's service account, and outside. */
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
import type { InstallationNames } from './names.ts'
import { installationName, namesOf } from './names.ts'
import type { Operator } from './operator.ts'

export interface WebhookOptions extends TlsOptions {
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free one. */
  readonly port?: number
  /** Where the API server reaches the webhooks, for an operator outside the cluster; its host goes into the certificate. */
  readonly url?: string
  /** The Service in front of the webhooks, in the namespace of the process. Default: `NAME-webhook`. */
  readonly service?: string
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
  /**
   * The name of the installation, from which the names of its webhook configurations, namespace, Service and Secret follow: several
   * installations, also of one operator, live in one cluster under different names. At most 52 characters of a DNS label that begins with a
   * letter. Default: the operator's name; where several operators run, it must be given.
   */
  readonly name?: string
  /** The namespace that the process belongs to. Default: that of the service account in a cluster, else `NAME-system`. */
  readonly namespace?: string
  /** Its abort starts the ordered stop. Default: that of `onTermination`, which aborts on SIGTERM and SIGINT. */
  readonly signal?: AbortSignal
  /** Default: the Secret `NAME-webhook-ca` in a cluster, the folder `certs` outside. */
  readonly certificates?: CertificateOptions
  readonly webhook?: WebhookOptions
  /** Default: `NAME-mutating` and `NAME-validating`. Empty lists leave `caBundle` to others, e.g. cert-manager. */
  readonly webhookConfigurations?: InjectionTargets
  /** Default `:8081` in a cluster, `127.0.0.1:8081` outside: nobody has to authenticate. `0` switches the probes off. */
  readonly probeBindAddress?: string
  /** Default `:8080` in a cluster, `127.0.0.1:8080` outside: nobody has to authenticate. `0` switches the metrics off. */
  readonly metricsBindAddress?: string
  /**
   * How many bytes of memory the process may take: the limits of the webhook server follow from it. Default: the memory limit of the
   * container; without one half of the machine's memory, at most 1 GiB.
   */
  readonly memoryLimitBytes?: number
  /** Which namespaces the controllers watch. Absent or empty: all. */
  readonly namespaces?: readonly string[]
  /**
   * How long the webhooks go on accepting after the stop began, so that nobody still sends to a closed port. Default 10 s in a cluster, where
   * endpoints are withdrawn meanwhile, and 0 outside.
   */
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

/** What has a default has a value; only `signal` may still be missing. */
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
 * Fills in the defaults.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the installation has no name, or one that cannot be.
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

/** Where a Service is. */
export interface ServiceReference {
  readonly namespace: string
  readonly name: string
}

/** The Service in front of the webhooks of an installation. */
export function serviceOf(names: InstallationNames, { connection, namespace, webhook }: RunOptions): ServiceReference {
  const own = namespace ?? (connection.inCluster === true ? connection.namespace : undefined) ?? names.namespace
  return { namespace: own, name: webhook?.service ?? names.webhookService }
}

function processMetrics(): Metrics {
  const metrics = new Metrics()
  metrics.collectProcess()
  return metrics
}
