/** The servers beside the webhooks: `/healthz` and `/readyz` for the kubelet, `/metrics` for Prometheus. */
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Check } from './health.ts'
import type { Handler, HttpEndpoint } from './http-endpoint.ts'
import type { ListenAddress } from './listen-address.ts'
import { healthHandler } from './health.ts'
import { startHttpEndpoint } from './http-endpoint.ts'
import { parseListenAddress } from './listen-address.ts'

const probeFlag = '--health-probe-bind-address'
const metricsFlag = '--metrics-bind-address'

export interface ProbeOptions {
  /** `0` switches the probes off. */
  readonly probeBindAddress: string
  /** `0` switches the metrics off. The same text as the probes' address: one server for both. */
  readonly metricsBindAddress: string
  readonly metrics: Metrics
  /** What `/healthz` looks at: when it fails, the kubelet starts the container anew. */
  readonly liveness: () => readonly Check[]
  /** What `/readyz` looks at. */
  readonly readiness: () => readonly Check[]
  readonly logger: Logger
}

export interface Probes {
  /** Where the probes are served, undefined when they are off. */
  readonly probes: ListenAddress | undefined
  readonly metrics: ListenAddress | undefined
  close(): Promise<void>
}

/** A process that answers is alive. */
const ping: Check = { name: 'ping', problem: () => undefined }

/** Starts the servers. Rejects with one sentence when an address is malformed or taken; what was started before is then closed. */
export async function startProbes(options: ProbeOptions): Promise<Probes> {
  const { probeBindAddress, metricsBindAddress, metrics, liveness, readiness, logger } = options
  const probeAddress = parseListenAddress(probeBindAddress, probeFlag)
  const metricsAddress = parseListenAddress(metricsBindAddress, metricsFlag)
  const health: readonly Handler[] = [
    healthHandler('/healthz', () => [ping, ...liveness()]),
    healthHandler('/readyz', () => [ping, ...readiness()]),
  ]
  const endpoints: HttpEndpoint[] = []
  const start = async (address: ListenAddress, flag: string, handlers: readonly Handler[]): Promise<ListenAddress> => {
    const endpoint = await startHttpEndpoint({ address, flag, handlers, logger })
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

function metricsHandler({ registry }: Metrics): Handler {
  return async (url) =>
    url.pathname === '/metrics' ? { code: 200, body: await registry.metrics(), contentType: registry.contentType } : undefined
}
