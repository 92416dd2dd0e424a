/**
 * The options of `run`, and their defaults. Some defaults differ in a cluster, that is, when the connection uses the service account of a
 * Pod.
 */
import { hostname } from 'node:os'
import type { Clock } from '../runtime/clock.ts'
import type { Client } from '../client/client.ts'
import type { Connection } from '../client/connection.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { TlsOptions } from '../webhook/http/tls.ts'
import type { CertificateOptions } from './certificates.ts'
import type { CompleteLeaderElection, LeaderElectionOptions } from './leader-election.ts'
import { completeLeaderElection } from './leader-election.ts'
import type { ListenAddress } from './listen-address.ts'
import { isLoopback, parseListenAddress } from './listen-address.ts'
import { metricsFlag } from './probe-server.ts'
import { systemClock } from '../runtime/clock.ts'
import { systemRandom } from '../runtime/random.ts'
import { createLogger } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import type { InstallationNames } from './installation-names.ts'
import { installationName, namesOf } from './installation-names.ts'
import type { Operator } from './operator.ts'

export interface WebhookOptions extends TlsOptions {
  /** The address on which the webhook server listens. Default: all addresses. */
  readonly host?: string
  /** The port on which the webhook server listens. Default 9443; with 0, the system chooses a free port. */
  readonly port?: number
  /**
   * The URL at which the API server reaches the webhooks of an operator outside the cluster. The serving certificate includes the URL's
   * host.
   */
  readonly url?: string
  /**
   * The name of the Service in front of the webhooks, in the namespace of the process. Default: `NAME-webhook`, where `NAME` is the name of
   * the installation.
   */
  readonly service?: string
  /**
   * The fraction of allowed admission requests that are logged at level `info`, from 0 (none, the default) to 1 (all). Whether a request is
   * logged depends on its uid. Denied and failed requests are always logged.
   */
  readonly reviewLogSampling?: number
}

/** The webhook configurations and CustomResourceDefinitions in which this process sets `caBundle`. */
export interface InjectionTargets {
  readonly mutating: readonly string[]
  readonly validating: readonly string[]
  /**
   * The names of CustomResourceDefinitions with a conversion webhook. Default: the CRDs of all kinds for which the operators define
   * conversions.
   */
  readonly definitions?: readonly string[]
}

/** The addresses on which the process serves webhooks, probes, metrics and `/debug`. */
export interface Endpoints {
  /** The port, URL and trust bundle of the webhook server; undefined when the process serves neither webhooks nor conversions. */
  readonly webhook: { readonly port: number; readonly url: string; readonly caBundle: string } | undefined
  /** The address on which probes are served; undefined when they are disabled. */
  readonly probes: ListenAddress | undefined
  /** The address on which metrics are served; undefined when they are disabled. */
  readonly metrics: ListenAddress | undefined
  /** The address on which `/debug` is served; undefined when it is disabled. */
  readonly debug: ListenAddress | undefined
}

export interface RunOptions {
  readonly connection: Connection
  /**
   * The name of the installation: a DNS label of at most 52 characters that begins with a letter. Default: the operator's name. If there
   * are several operators, the option is required.
   *
   * By default, the names of the webhook configurations, the namespace, the Service and the Secret of the installation begin with this
   * name. Several installations, even of the same operator, can run in one cluster if their names differ.
   */
  readonly name?: string
  /**
   * The namespace of the process. Default in a cluster: the namespace of the service account. Default outside: `NAME-system`, where `NAME`
   * is the name of the installation.
   */
  readonly namespace?: string
  /**
   * The graceful shutdown starts when this signal aborts. Default: a signal that aborts on SIGTERM and SIGINT (`onTermination`). With this
   * default, SIGUSR2 changes the log level to `debug`. If the level is already `debug`, SIGUSR2 restores the previous level.
   */
  readonly signal?: AbortSignal
  /**
   * The store of the webhook server's certificates. Default in a cluster: the Secret `NAME-webhook-ca`, where `NAME` is the name of the
   * installation. Default outside: the folder `certs`.
   */
  readonly certificates?: CertificateOptions
  readonly webhook?: WebhookOptions
  /**
   * If false, the process serves neither the webhooks nor the conversions of the operators, for example because it runs outside the
   * cluster. Default true.
   */
  readonly enableWebhooks?: boolean
  /**
   * The webhook configurations in which this process sets `caBundle`. Default: `NAME-mutating` and `NAME-validating`, where `NAME` is the
   * name of the installation. If another controller, for example cert-manager, sets `caBundle`, pass empty lists.
   */
  readonly webhookConfigurations?: InjectionTargets
  /**
   * The address on which probes are served, without authentication. Default in a cluster: `:8081`. Default outside: `127.0.0.1:8081`. `0`
   * disables the probes.
   */
  readonly probeBindAddress?: string
  /**
   * The address on which metrics are served. Default in a cluster: `:8443`, or `:8080` with `metricsSecure: false`. Default outside:
   * `127.0.0.1:8080`. `0` disables the metrics.
   */
  readonly metricsBindAddress?: string
  /**
   * The protocol of the metrics server:
   *
   * - true: HTTPS. Clients need a valid bearer token (TokenReview), and their user needs the permission to get `/metrics`
   *   (SubjectAccessReview).
   * - false: plain HTTP without authentication.
   *
   * Default in a cluster: true. Default outside: false if `metricsBindAddress` is a loopback address, otherwise true.
   */
  readonly metricsSecure?: boolean
  /**
   * A folder with the certificate for metrics and `/debug`, in the files `tls.crt` and `tls.key`. Default: the certificates of the webhook
   * server. If the process has no webhook server, the default is a certificate in memory.
   */
  readonly metricsCertDir?: string
  /**
   * The address of `/debug`, which serves heap snapshots, CPU profiles, the queues, the cache and the log level. An address without a host,
   * such as `:6060`, is on `127.0.0.1`. Default `0`: disabled.
   *
   * - A loopback address requires no authentication.
   * - Any other address requires HTTPS and a bearer token, as with `metricsSecure`.
   */
  readonly debugBindAddress?: string
  /**
   * Memory limit of the process in bytes. The limits of the webhook server are derived from it. Default: the memory limit of the container.
   * If the container has no limit, the default is half of the machine's memory, at most 1 GiB.
   */
  readonly memoryLimitBytes?: number
  /**
   * If true, the process uses less memory: V8 lets less garbage accumulate in the heap, and garbage is collected once when the process is
   * idle after its start. These settings apply to the whole process, not only to the operators. Default true.
   */
  readonly saveMemory?: boolean
  /** Namespaces that the controllers watch. If absent or empty, the controllers watch all namespaces. */
  readonly namespaces?: readonly string[]
  /**
   * Time in milliseconds for which the webhook server still accepts connections after the shutdown has begun. In a cluster, clients connect
   * to this process until its endpoint is removed. Default in a cluster: 10,000. Default outside: 0.
   */
  readonly drainDelayMs?: number
  /**
   * Time limit in milliseconds for requests and reconciles that are in progress at the shutdown. The time begins when `drainDelayMs` has
   * passed. Default 30,000.
   */
  readonly drainDeadlineMs?: number
  /**
   * Maximum number of objects that all controllers of the process together reconcile at the same time. In addition, the option `workers` of
   * a controller limits this controller. Default: no limit.
   */
  readonly maxConcurrentReconciles?: number
  /**
   * Leader election. With leader election, only one replica of the installation, the leader, reconciles. All replicas serve webhooks. An
   * object with options enables leader election, too. Default in a cluster: true. Default outside: false.
   */
  readonly leaderElection?: boolean | LeaderElectionOptions
  /** The name of this replica in events. Default: the host name. In a cluster, this is the name of the Pod. */
  readonly instance?: string
  readonly logger?: Logger
  readonly clock?: Clock
  /**
   * Returns a number in [0, 1), for jitter, the timeouts of watches, and ids such as `reconcileID` and the identity in the Lease. Replicas
   * whose functions return the same numbers need different values of `instance`. Default: `Math.random`.
   */
  readonly random?: () => number
  readonly metrics?: Metrics
  /**
   * Called when the webhooks are served and no type is watched yet. It can, for example, install the webhook configurations. `client` is
   * the client of the process.
   */
  readonly onServing?: (endpoints: Endpoints, client: Client) => Promise<void> | void
  /** Called when all servers and controllers have been started. The caches may not have synced yet. */
  readonly onStarted?: (endpoints: Endpoints, client: Client) => Promise<void> | void
}

/**
 * The options with their defaults. `names` and `service` are derived from the options `name`, `namespace` and `webhook`. `signal`,
 * `namespaces` and `memoryLimitBytes` may still be undefined, because the code that uses these options applies their defaults.
 */
export type CompleteOptions = Omit<RunOptions, 'leaderElection'> &
  Required<
    Pick<
      RunOptions,
      | 'certificates'
      | 'webhook'
      | 'webhookConfigurations'
      | 'probeBindAddress'
      | 'metricsBindAddress'
      | 'metricsSecure'
      | 'debugBindAddress'
      | 'drainDelayMs'
      | 'drainDeadlineMs'
      | 'saveMemory'
      | 'instance'
      | 'logger'
      | 'clock'
      | 'random'
      | 'metrics'
    >
  > & {
    readonly names: InstallationNames
    readonly service: ServiceReference
    /** Undefined when leader election is disabled. */
    readonly leaderElection: CompleteLeaderElection | undefined
  }

/**
 * Applies the defaults of the options.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the name of the installation is missing or invalid, when the durations of leader
 * election are invalid, or when `metricsBindAddress` is malformed.
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
    ...metricsDefaults(options, inCluster),
    debugBindAddress: debugAddressOf(options.debugBindAddress ?? '0'),
    drainDelayMs: options.drainDelayMs ?? (inCluster ? 10_000 : 0),
    drainDeadlineMs: options.drainDeadlineMs ?? 30_000,
    saveMemory: options.saveMemory ?? true,
    leaderElection: completeLeaderElection(options.leaderElection ?? inCluster, names, service),
    instance: options.instance ?? hostname(),
    logger: options.logger ?? createLogger(),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    metrics: options.metrics ?? processMetrics(),
  }
}

/** Returns the defaults of the options for metrics. In a cluster, every Pod can reach the port, so metrics need authentication there. */
function metricsDefaults(
  { metricsBindAddress, metricsSecure }: RunOptions,
  inCluster: boolean,
): Required<Pick<RunOptions, 'metricsBindAddress' | 'metricsSecure'>> {
  const address = metricsBindAddress ?? (inCluster ? (metricsSecure === false ? ':8080' : ':8443') : '127.0.0.1:8080')
  const parsed = parseListenAddress(address, metricsFlag)
  return { metricsBindAddress: address, metricsSecure: metricsSecure ?? (inCluster || (parsed !== undefined && !isLoopback(parsed))) }
}

/**
 * Converts `:6060` to `127.0.0.1:6060`. By default, only processes on the same machine can reach the address, because a heap snapshot
 * contains secrets. To listen on all addresses, a user sets `0.0.0.0:6060` or `[::]:6060`.
 */
function debugAddressOf(text: string): string {
  return text.startsWith(':') ? `127.0.0.1${text}` : text
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
