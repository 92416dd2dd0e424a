/** `tcpProbe`: succeeds when a port accepts a connection. */
import type { ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { containerPort } from './container-port.ts'
import { withDeadline } from './deadline.ts'
import { ConnectionError, dial } from './dial.ts'
import type { ProbeContext } from './probe-context.ts'
import type { ProbeOutcome } from './probe-outcome.ts'

/** Runs a `tcpSocket` probe (k8s.io/kubernetes/pkg/probe/tcp: DoTCPProbe). @throws {ProbeError} when the port is invalid. */
export async function tcpProbe(action: NonNullable<ProbeSpec['tcpSocket']>, context: ProbeContext): Promise<ProbeOutcome> {
  const port = containerPort(action.port, context.container)
  const host = action.host || undefined
  try {
    const { socket } = await withDeadline(context.timeoutMs, context, (signal) => dial(context.target, { port, host, signal }))
    socket.destroy()
    return { kind: 'success', output: '' }
  } catch (error) {
    if (error instanceof ConnectionError) return { kind: 'failure', output: error.message }
    throw error
  }
}
