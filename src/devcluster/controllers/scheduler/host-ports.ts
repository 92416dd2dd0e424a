/** The host ports of Pods (k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports). */

interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}
const anyAddress = '0.0.0.0'

/** Returns true when `pod` requests a host port that one of `others` uses. */
export function hasPortConflict(pod: ReadonlyPod, others: readonly ReadonlyPod[]): boolean {
  const wanted = hostPorts(pod)
  if (wanted.length === 0) return false
  const used = others.flatMap(hostPorts)
  return wanted.some(({ ip, protocol, port }) =>
    used.some((one) => one.port === port && one.protocol === protocol && (one.ip === ip || one.ip === anyAddress || ip === anyAddress)),
  )
}

function hostPorts({ spec }: ReadonlyPod): HostPort[] {
  const containers = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ]
  return containers
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort = 0, hostIP, protocol = 'TCP' }) => (hostPort > 0 ? [{ ip: hostIP || anyAddress, protocol, port: hostPort }] : []))
}
import type { ReadonlyPod } from '../api-types.ts'
