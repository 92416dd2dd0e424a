/** The texts of the Events about failed probes. */
import type { ProbeKind, ProbeSpec } from './probe.ts'
import type { ContainerSpec } from './simulated-container.ts'

const titles: Readonly<Record<ProbeKind, string>> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' }

/** Returns the message of the Event `Unhealthy` (k8s.io/kubernetes/pkg/kubelet/prober: prober.probe). */
export function probeFailure(kind: ProbeKind, probe: ProbeSpec, container: ContainerSpec, podIP: string): string {
  return `${titles[kind]} probe failed: ${outputOf(probe, container, podIP)}`
}

/** Returns the output that a failed probe of this type may have (k8s.io/kubernetes/pkg/probe: http.DoHTTPProbe, tcp.DoTCPProbe, grpc.Probe). */
function outputOf({ httpGet, tcpSocket, grpc }: ProbeSpec, { ports = [] }: ContainerSpec, podIP: string): string {
  if (httpGet !== undefined) return 'HTTP probe failed with statuscode: 503'
  if (tcpSocket !== undefined) {
    const { host = podIP, port } = tcpSocket
    const number = ports.find(({ name }) => name === port)?.containerPort ?? port
    return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${number}: connect: connection refused`
  }
  if (grpc !== undefined) return 'service unhealthy (responded with "NOT_SERVING")'
  // The output of a command may be any text.
  return 'simulated'
}
