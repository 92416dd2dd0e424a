/**
 * The servers of secured metrics and of `/debug`. Both serve HTTPS and check permissions, except `/debug` on a loopback address. Plain
 * metrics are served by `startProbes`.
 */
import type { CertificateSource } from '../certs/serving-certificate.ts'
import { openFileCertificates } from '../certs/file-store.ts'
import { openMemoryCertificates } from '../certs/memory-store.ts'
import type { Client } from '../client/client.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { TlsOptions } from '../webhook/http/tls.ts'
import { tlsLimits } from '../webhook/http/tls.ts'
import type { BackgroundTask } from './background.ts'
import { inBackground } from './background.ts'
import { accessFilter } from './access-filter.ts'
import type { DebugSources } from './debug-handlers.ts'
import { debugHandlers, debugPaths, loopbackHostsOnly } from './debug-handlers.ts'
import type { HttpEndpoint, HttpEndpointOptions } from './http-endpoint.ts'
import { startHttpEndpoint } from './http-endpoint.ts'
import type { ListenAddress } from './listen-address.ts'
import { isLoopback, parseListenAddress } from './listen-address.ts'
import { metricsFlag, metricsHandler, metricsPath } from './probe-server.ts'

const debugFlag = '--debug-bind-address'
/**
 * Time limit of a request to `/debug` in milliseconds. The limit is long, because a CPU profile takes up to 60 s, and a heap snapshot may
 * have some hundred MiB.
 */
const debugRequestMs = 180_000

export interface MonitoringOptions {
  /** The address on which metrics are served over TLS; `0` if metrics are disabled, or if the probe server serves metrics without TLS. */
  readonly metricsBindAddress: string
  readonly debugBindAddress: string
  /** The folder with the certificate of these servers. */
  readonly certDir?: string | undefined
  /**
   * The certificates of the webhook server. The monitoring servers use the same certificates. Undefined when there is no webhook server.
   */
  readonly certificates?: CertificateSource | undefined
  /** `names` and `ips`: the DNS names and the IP addresses in a certificate that Proreus issues for these servers. */
  readonly names: readonly string[]
  readonly ips: readonly string[]
  readonly tls: TlsOptions
  readonly metrics: Metrics
  readonly debug: Omit<DebugSources, 'clock' | 'logger'>
  readonly client: Pick<Client, 'create'>
  readonly clock: Clock
  readonly logger: Logger
}

export interface MonitoringEndpoints {
  readonly metrics: ListenAddress | undefined
  readonly debug: ListenAddress | undefined
  /**
   * The task that renews the certificate; undefined when these servers need no certificate, or share the certificate of the webhook server.
   */
  readonly certificateTask: BackgroundTask | undefined
  close(): Promise<void>
}

/**
 * Starts the servers.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when an address is malformed, or the process cannot listen on it; `PRO_PORT_IN_USE` when a
 * port is in use; `PRO_PERMISSION` when the user may not listen on a port; `PRO_CERTIFICATE` when the certificate in `certDir` cannot be
 * used.
 */
export async function startMonitoring(options: MonitoringOptions): Promise<MonitoringEndpoints> {
  const { metricsBindAddress, debugBindAddress, metrics, debug, client, clock, logger } = options
  const metricsAddress = parseListenAddress(metricsBindAddress, metricsFlag)
  const debugAddress = parseListenAddress(debugBindAddress, debugFlag)
  const openDebug = debugAddress !== undefined && isLoopback(debugAddress)
  const endpoints: HttpEndpoint[] = []
  let certificateTask: BackgroundTask | undefined
  const close = async (): Promise<void> => {
    await Promise.all([...endpoints.map((endpoint) => endpoint.close()), certificateTask?.stop()])
  }
  const start = async (endpoint: HttpEndpointOptions): Promise<ListenAddress> => {
    const started = await startHttpEndpoint(endpoint)
    endpoints.push(started)
    return started.address
  }
  try {
    let secured: Pick<HttpEndpointOptions, 'tls' | 'access'> = {}
    if (metricsAddress !== undefined || (debugAddress !== undefined && !openDebug)) {
      const own = options.certDir === undefined ? options.certificates : undefined
      const certificates = own ?? (await openOwn(options))
      if (own === undefined)
        certificateTask = inBackground('keeping the certificate of the metrics fresh', (stop) => certificates.start(stop), logger)
      const access = accessFilter({ client, paths: [metricsPath, ...debugPaths], clock, logger })
      secured = { tls: { certificates, limits: tlsLimits(options.tls) }, access }
    }
    const metricsEndpoint =
      metricsAddress &&
      (await start({ address: metricsAddress, flag: metricsFlag, handlers: [metricsHandler(metrics)], clock, logger, ...secured }))
    const debugEndpoint =
      debugAddress &&
      (await start({
        address: debugAddress,
        flag: debugFlag,
        handlers: debugHandlers({ ...debug, clock, logger }),
        methods: ['GET', 'PUT'],
        requestMs: debugRequestMs,
        clock,
        logger,
        ...(openDebug ? { access: loopbackHostsOnly } : secured),
      }))
    return { metrics: metricsEndpoint, debug: debugEndpoint, certificateTask, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the certificate in `certDir`. If `certDir` is undefined, the function issues a certificate that exists only in memory. */
function openOwn({ certDir, names, ips, clock, logger }: MonitoringOptions): Promise<CertificateSource> {
  return certDir === undefined
    ? openMemoryCertificates({ names, ips, clock, logger })
    : openFileCertificates({ directory: certDir, names, ips, clock, logger })
}
