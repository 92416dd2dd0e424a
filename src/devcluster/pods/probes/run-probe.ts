/** `runProbe`: one run of a probe. */
import type { ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { execProbe } from './exec-probe.ts'
import { grpcProbe } from './grpc-probe.ts'
import { httpProbe } from './http-probe.ts'
import type { ProbeContext } from './probe-context.ts'
import type { ProbeOutcome } from './probe-outcome.ts'
import { ProbeError } from './probe-outcome.ts'
import { tcpProbe } from './tcp-probe.ts'

/** The number of attempts within one run (k8s.io/kubernetes/pkg/kubelet/prober: maxProbeRetries). */
const maxTries = 3

/**
 * Runs a probe. If an attempt has no outcome, tries again. There are at most `maxTries` attempts.
 *
 * @throws {ProbeError} when no attempt has an outcome.
 * @throws the reason of `context.signal` when the signal aborts.
 */
export async function runProbe(spec: ProbeSpec, context: ProbeContext): Promise<ProbeOutcome> {
  for (let tries = 1; ; tries++) {
    try {
      return await runOnce(spec, context)
    } catch (error) {
      if (!(error instanceof ProbeError) || tries === maxTries) throw error
    }
  }
}

/**
 * Runs one handler of the probe. If the probe has several handlers, the first of `exec`, `httpGet`, `tcpSocket` and `grpc` is used, as in
 * the kubelet (k8s.io/kubernetes/pkg/kubelet/prober: runProbe).
 */
async function runOnce({ exec, httpGet, tcpSocket, grpc }: ProbeSpec, context: ProbeContext): Promise<ProbeOutcome> {
  if (exec !== undefined) return execProbe(exec, context)
  if (httpGet !== undefined) return httpProbe(httpGet, context)
  if (tcpSocket !== undefined) return tcpProbe(tcpSocket, context)
  if (grpc !== undefined) return grpcProbe(grpc, context)
  throw new ProbeError(`missing probe handler for ${context.container.name}`)
}
