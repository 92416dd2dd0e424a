/** `proreus run`: runs operators against an existing cluster. */
import { Command, Option } from 'commander'
import { serviceAccountDirectory } from '../client/in-cluster.ts'
import { loadConnection } from '../client/kubeconfig.ts'
import type { Connection } from '../client/connection.ts'
import type { CertificateOptions } from '../manager/certificates.ts'
import { installationName, namesOf } from '../manager/installation-names.ts'
import { run } from '../manager/run.ts'
import type { RunOptions } from '../manager/run-options.ts'
import { installOnServing } from '../manifests/install.ts'
import {
  applyConfigFile,
  defaultConfigFile,
  parseBoolean,
  parseBytes,
  parseDuration,
  parseList,
  parsePort,
  parseShare,
  parseWebhookUrl,
} from './configuration.ts'
import type { TlsVersion } from '../webhook/http/tls.ts'
import { tlsCipherSuites, tlsVersions } from '../webhook/http/tls.ts'
import type { Logger } from '../telemetry/logger.ts'
import { addLogOptions, loggerOf, type LogOptions } from './logging.ts'
import { nameOption, operatorsOption, selectOperators } from './operators.ts'

interface Options extends LogOptions {
  operators?: string
  name?: string
  kubeconfig?: string
  context?: string
  serviceAccountDir: string
  namespace?: string
  watchNamespace: string[]
  enableWebhooks: boolean
  webhookHost?: string
  webhookPort: number
  webhookUrl?: string
  webhookService?: string
  reviewLogSampling: number
  tlsMinVersion: TlsVersion
  tlsCipherSuites: string[]
  memoryLimit?: number
  certDir?: string
  certSecret?: string
  healthProbeBindAddress?: string
  metricsBindAddress?: string
  leaderElect?: boolean
  leaderElectLeaseDuration?: number
  leaderElectRenewDeadline?: number
  leaderElectRetryPeriod?: number
  leaderElectResourceName?: string
  leaderElectResourceNamespace?: string
  metricsSecure?: boolean
  metricsCertDir?: string
  debugBindAddress: string
  drainDelay?: number
  drainDeadline: number
  install?: boolean
  forceConflicts?: boolean
}

/**
 * @param start the function that runs the operators. Tests replace it.
 * @param createLogger the function that creates the logger. Tests replace it.
 */
export function runCommand(start: typeof run = run, createLogger: (options: LogOptions) => Logger = loggerOf): Command {
  const command = new Command('run')
    .description('Run operators against an existing API: admission webhooks, controllers, and the certificates in between.')
    .addOption(operatorsOption())
    .addOption(nameOption())
    .option('--kubeconfig <file>', 'kubeconfig to use (default: $KUBECONFIG, else the service account of the Pod, else ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(
      new Option('--service-account-dir <folder>', 'folder with the service account that the kubelet mounts: token, ca.crt and namespace')
        .default(serviceAccountDirectory)
        .env('SERVICE_ACCOUNT_DIR'),
    )
    .addOption(
      new Option(
        '--namespace <name>',
        "the operator's own namespace (default: that of the service account in a cluster, else NAME-system)",
      ).env('POD_NAMESPACE'),
    )
    .addOption(
      new Option('--watch-namespace <list>', 'namespaces that the controllers watch; empty: all')
        .argParser(parseList)
        .default([], 'all')
        .env('WATCH_NAMESPACE'),
    )
    .addOption(new Option('--enable-webhooks [bool]', 'serve the webhooks').argParser(parseBoolean).default(true).env('ENABLE_WEBHOOKS'))
    .addOption(new Option('--webhook-host <address>', 'address that the webhooks listen on (default: all)').env('WEBHOOK_HOST'))
    .addOption(
      new Option('--webhook-port <port>', 'port that the webhooks listen on').argParser(parsePort).default(9443).env('WEBHOOK_PORT'),
    )
    .addOption(
      new Option(
        '--webhook-url <url>',
        'URL at which the API server reaches the webhooks of an operator outside the cluster: https://host:port',
      )
        .argParser(parseWebhookUrl)
        .env('WEBHOOK_URL'),
    )
    .addOption(
      new Option(
        '--webhook-service <name>',
        'Service in front of the webhooks, for an operator in the cluster (default: NAME-webhook)',
      ).env('WEBHOOK_SERVICE'),
    )
    .addOption(
      new Option('--review-log-sampling <share>', 'share of allowed reviews that are logged, from 0 (none) to 1 (all)')
        .argParser(parseShare)
        .default(0)
        .env('REVIEW_LOG_SAMPLING'),
    )
    .addOption(
      new Option('--tls-min-version <version>', 'oldest version of TLS that the webhooks accept')
        .choices(Object.keys(tlsVersions))
        .default('VersionTLS12')
        .env('TLS_MIN_VERSION'),
    )
    .addOption(
      new Option('--tls-cipher-suites <list>', 'cipher suites of TLS 1.2 that the webhooks accept, by the names that Go uses')
        .argParser(parseList)
        .default(tlsCipherSuites, 'those with forward secrecy and authenticated encryption')
        .env('TLS_CIPHER_SUITES'),
    )
    .addOption(
      new Option('--memory-limit <quantity>', 'memory that the process may take, e.g. 512Mi (default: the limit of the container)')
        .argParser(parseBytes)
        .env('MEMORY_LIMIT'),
    )
    .addOption(
      new Option('--cert-dir <folder>', 'keep the certificates in files there; the default outside a cluster is certs').env('CERT_DIR'),
    )
    .addOption(
      new Option('--cert-secret <name>', 'in a cluster, keep the certificates in this Secret (default: NAME-webhook-ca)').env(
        'CERT_SECRET',
      ),
    )
    .addOption(
      new Option(
        '--health-probe-bind-address <address>',
        'address of /healthz and /readyz, which need no authentication; 0 disables them (default: :8081 in a cluster, 127.0.0.1:8081 outside)',
      ).env('HEALTH_PROBE_BIND_ADDRESS'),
    )
    .addOption(
      new Option(
        '--metrics-bind-address <address>',
        'address of /metrics; 0 disables it (default: in a cluster :8443, or :8080 with --metrics-secure=false; 127.0.0.1:8080 outside)',
      ).env('METRICS_BIND_ADDRESS'),
    )
    .addOption(
      new Option(
        '--leader-elect [bool]',
        'let only one replica, the leader, reconcile; all replicas serve webhooks (default: true in a cluster, false outside)',
      )
        .argParser(parseBoolean)
        .env('LEADER_ELECT'),
    )
    .addOption(
      new Option(
        '--leader-elect-lease-duration <duration>',
        'time for which the other replicas wait after the last renewal of the leader (default: 15s)',
      )
        .argParser(parseDuration)
        .env('LEADER_ELECT_LEASE_DURATION'),
    )
    .addOption(
      new Option(
        '--leader-elect-renew-deadline <duration>',
        'time after the last renewal at which the leader stops to reconcile (default: 10s)',
      )
        .argParser(parseDuration)
        .env('LEADER_ELECT_RENEW_DEADLINE'),
    )
    .addOption(
      new Option('--leader-elect-retry-period <duration>', 'time between two attempts to get or renew the lease (default: 2s)')
        .argParser(parseDuration)
        .env('LEADER_ELECT_RETRY_PERIOD'),
    )
    .addOption(
      new Option('--leader-elect-resource-name <name>', 'name of the Lease (default: NAME-leader)').env('LEADER_ELECT_RESOURCE_NAME'),
    )
    .addOption(
      new Option('--leader-elect-resource-namespace <name>', "namespace of the Lease (default: the operator's own namespace)").env(
        'LEADER_ELECT_RESOURCE_NAMESPACE',
      ),
    )
    .addOption(
      new Option(
        '--metrics-secure [bool]',
        'serve /metrics over HTTPS to users with the permission to get it (default: true, except on loopback outside a cluster)',
      )
        .argParser(parseBoolean)
        .env('METRICS_SECURE'),
    )
    .addOption(
      new Option(
        '--metrics-cert-dir <folder>',
        'folder with tls.crt and tls.key for /metrics and /debug (default: the certificate of the webhooks)',
      ).env('METRICS_CERT_DIR'),
    )
    .addOption(
      new Option(
        '--debug-bind-address <address>',
        'address of /debug: profiles, queues, cache and log level; 0 disables it, :6060 is on loopback; any other host needs authentication',
      )
        .default('0')
        .env('DEBUG_BIND_ADDRESS'),
    )
    .addOption(
      new Option(
        '--drain-delay <duration>',
        'time for which the webhooks accept connections after SIGTERM (default: 10s in a cluster, 0s outside)',
      )
        .argParser(parseDuration)
        .env('DRAIN_DELAY'),
    )
    .addOption(
      new Option('--drain-deadline <duration>', 'time limit for requests and reconciles in flight after that')
        .argParser(parseDuration)
        .default(30_000, '30s')
        .env('DRAIN_DEADLINE'),
    )
    .option(
      '--install',
      'apply the CRDs and webhook configurations first, and remove those configurations that the operators no longer need; outside a cluster with --webhook-url',
    )
    .option('--force-conflicts', 'with --install: take over CRDs that another installation has defined differently')
    .option('--config <file>', 'YAML file with options, named like the flags', defaultConfigFile)
  return addLogOptions(command).action(async () => {
    await applyConfigFile(command)
    const options = command.opts<Options>()
    const { operators, name: given } = await selectOperators(options)
    const name = installationName(operators, given)
    const connection = await loadConnection({
      env: process.env,
      inClusterRoot: options.serviceAccountDir,
      ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
      ...(options.context !== undefined && { context: options.context }),
    })
    const logger = createLogger(options)
    const running: RunOptions = { ...runOptions(connection, name, options, logger), logger }
    const { install = false, forceConflicts = false } = options
    await start(operators, install ? { ...running, onServing: installOnServing(operators, running, { forceConflicts }) } : running)
  })
}

function runOptions(connection: Connection, name: string, options: Options, logger: Logger): Omit<RunOptions, 'signal' | 'logger'> {
  const certificates = certificatesOf(connection, name, options, logger)
  return {
    connection,
    name,
    namespaces: options.watchNamespace,
    ...(!options.enableWebhooks && { enableWebhooks: false }),
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    ...(options.healthProbeBindAddress !== undefined && { probeBindAddress: options.healthProbeBindAddress }),
    ...(options.metricsBindAddress !== undefined && { metricsBindAddress: options.metricsBindAddress }),
    ...leaderElectionOf(options),
    ...(options.metricsSecure !== undefined && { metricsSecure: options.metricsSecure }),
    ...(options.metricsCertDir !== undefined && { metricsCertDir: options.metricsCertDir }),
    debugBindAddress: options.debugBindAddress,
    ...(options.drainDelay !== undefined && { drainDelayMs: options.drainDelay }),
    drainDeadlineMs: options.drainDeadline,
    ...(certificates !== undefined && { certificates }),
    ...(options.memoryLimit !== undefined && { memoryLimitBytes: options.memoryLimit }),
    webhook: {
      port: options.webhookPort,
      reviewLogSampling: options.reviewLogSampling,
      tlsMinVersion: options.tlsMinVersion,
      tlsCipherSuites: options.tlsCipherSuites,
      ...(options.webhookHost !== undefined && { host: options.webhookHost }),
      ...(options.webhookUrl !== undefined && { url: options.webhookUrl }),
      ...(options.webhookService !== undefined && { service: options.webhookService }),
    },
  }
}

/**
 * Returns the option `leaderElection`. If no flag of leader election is set, the option is absent. `run` then enables leader election only
 * in a cluster.
 */
function leaderElectionOf(options: Options): Pick<RunOptions, 'leaderElection'> {
  const { leaderElect, leaderElectResourceName, leaderElectResourceNamespace } = options
  const { leaderElectLeaseDuration, leaderElectRenewDeadline, leaderElectRetryPeriod } = options
  const given = {
    ...(leaderElectResourceName !== undefined && { name: leaderElectResourceName }),
    ...(leaderElectResourceNamespace !== undefined && { namespace: leaderElectResourceNamespace }),
    ...(leaderElectLeaseDuration !== undefined && { leaseDurationMs: leaderElectLeaseDuration }),
    ...(leaderElectRenewDeadline !== undefined && { renewDeadlineMs: leaderElectRenewDeadline }),
    ...(leaderElectRetryPeriod !== undefined && { retryPeriodMs: leaderElectRetryPeriod }),
  }
  if (leaderElect === false) return { leaderElection: false }
  if (Object.keys(given).length > 0) return { leaderElection: given }
  return leaderElect === undefined ? {} : { leaderElection: true }
}

/**
 * Returns the location of the certificates; undefined for the default location. The default location is a Secret when `run` runs in a
 * cluster, and the folder `certs` when `run` runs outside a cluster.
 */
function certificatesOf(
  { inCluster, namespace: own }: Connection,
  name: string,
  options: Options,
  logger: Logger,
): CertificateOptions | undefined {
  if (options.certDir !== undefined) return { kind: 'files', directory: options.certDir }
  if (options.certSecret === undefined) return undefined
  if (inCluster === true)
    return { kind: 'secret', namespace: options.namespace ?? own ?? namesOf(name).namespace, name: options.certSecret }
  logger.warn('--cert-secret is ignored outside a cluster: the certificates are kept in the folder certs, or in that of --cert-dir.')
  return undefined
}
