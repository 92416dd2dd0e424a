/**
 * The HTTP servers without TLS. They serve `/healthz` and `/readyz` for the kubelet. If `metricsBindAddress` is not `0`, they also serve
 * `/metrics`.
 */
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Check } from './health-handler.ts'
import type { Handler, HttpEndpoint } from './http-endpoint.ts'
import type { ListenAddress } from './listen-address.ts'
import { healthHandler } from './health-handler.ts'
import { startHttpEndpoint } from './http-endpoint.ts'
import { parseListenAddress } from './listen-address.ts'
import { ProreusError } from '../api/errors.ts'

const probeFlag = '--health-probe-bind-address'
export const metricsFlag = '--metrics-bind-address'
export const metricsPath = '/metrics'

export interface ProbeOptions {
  /** The address on which probes are served; `0` disables them. */
  readonly probeBindAddress: string
  /**
   * The address on which metrics are served over HTTP, without TLS; `0` disables these metrics. If the address equals `probeBindAddress`
   * and the port is not 0, one server serves both probes and metrics.
   */
  readonly metricsBindAddress: string
  readonly metrics: Metrics
  /** Returns the checks of `/healthz`. When one of them fails, the kubelet restarts the container. */
  readonly liveness: () => readonly Check[]
  /** Returns the checks of `/readyz`. */
  readonly readiness: () => readonly Check[]
  readonly clock: Clock
  readonly logger: Logger
}

export interface Probes {
  /** The address on which probes are served; undefined when they are disabled. */
  readonly probes: ListenAddress | undefined
  readonly metrics: ListenAddress | undefined
  close(): Promise<void>
}

/** The check that always succeeds, because a process that responds is alive. */
const ping: Check = { name: 'ping', problem: () => undefined }

/** Starts the servers. If an address is malformed or in use, the servers that have started are closed, and the promise rejects. */
export async function startProbes(options: ProbeOptions): Promise<Probes> {
  const { probeBindAddress, metricsBindAddress, metrics, liveness, readiness, clock, logger } = options
  const probeAddress = parseListenAddress(probeBindAddress, probeFlag)
  const metricsAddress = parseListenAddress(metricsBindAddress, metricsFlag)
  const health: readonly Handler[] = [
    healthHandler('/healthz', () => [ping, ...liveness()]),
    healthHandler('/readyz', () => [ping, ...readiness()]),
  ]
  const endpoints: HttpEndpoint[] = []
  const start = async (address: ListenAddress, flag: string, handlers: readonly Handler[]): Promise<ListenAddress> => {
    const endpoint = await startHttpEndpoint({ address, flag, handlers, clock, logger })
    endpoints.push(endpoint)
    return endpoint.address
  }
  const close = async (): Promise<void> => {
    await Promise.all(endpoints.map((endpoint) => endpoint.close()))
  }
  const together =
    probeAddress !== undefined && metricsAddress !== undefined && probeAddress.port !== 0 && probeBindAddress === metricsBindAddress
  try {
    if (together) {
      const both = await start(probeAddress, probeFlag, [...health, metricsHandler(metrics)])
      return { probes: both, metrics: both, close }
    }
    const probes = probeAddress && (await start(probeAddress, probeFlag, health))
    return { probes, metrics: metricsAddress && (await start(metricsAddress, metricsFlag, [metricsHandler(metrics)])), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Returns the handler of `metricsPath`. */
export function metricsHandler({ registry }: Metrics): Handler {
  return async (url) =>
    url.pathname === metricsPath ? { code: 200, body: await registry.metrics(), contentType: registry.contentType } : undefined
}

/**
 * Rejects the configuration if secured metrics have the same address as the probes. On the same address, the probes would require a token,
 * too. The kubelet has no token, so the probes would fail.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID`
 */
export function refuseSharedAddress({
  metricsSecure,
  metricsBindAddress,
  probeBindAddress,
}: {
  readonly metricsSecure: boolean
  readonly metricsBindAddress: string
  readonly probeBindAddress: string
}): void {
  if (!metricsSecure || metricsBindAddress !== probeBindAddress) return
  const port = parseListenAddress(metricsBindAddress, metricsFlag)?.port ?? 0
  if (port === 0) return
  throw new ProreusError(
    'PRO_CONFIG_INVALID',
    `${metricsFlag} and ${probeFlag} are both ${metricsBindAddress}, but metrics are served over HTTPS to authenticated clients: choose another address, or plain metrics with --metrics-secure=false.`,
  )
}
