/** `simulatedOutput`: the output of a simulated probe that fails. */
import type { ContainerSpec, ProbeSpec } from '../container-runtime.ts'

/**
 * Returns an output that a failed probe with this handler can have in a real cluster (k8s.io/kubernetes/pkg/probe: http.DoHTTPProbe,
 * tcp.DoTCPProbe, grpc.Probe).
 */
export function simulatedOutput({ httpGet, tcpSocket, grpc }: ProbeSpec, { ports = [] }: ContainerSpec, podIP: string): string {
  if (httpGet !== undefined) return 'HTTP probe failed with statuscode: 503'
  if (tcpSocket !== undefined) {
    const { host = podIP, port } = tcpSocket
    const number = ports.find(({ name }) => name === port)?.containerPort ?? port
    return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${number}: connect: connection refused`
  }
  if (grpc !== undefined) return 'service unhealthy (responded with "NOT_SERVING")'
  // The handler is `exec`. In a real cluster, this text is the output of the command, which can be any text.
  return 'simulated'
}
