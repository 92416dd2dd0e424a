/** `grpcProbe`: succeeds when the health service of a gRPC server reports the state SERVING for a service. */
import type { ClientHttp2Session } from 'node:http2'
import { quote } from '../../../api/field-error.ts'
import { formatGoDuration } from '../../../formats/go-duration.ts'
import { urlHost } from '../../../runtime/listen.ts'
import type { ProbeSpec } from '../../controllers/kubelet/container-runtime.ts'
import { ProtobufError, WireReader, wireTypes } from '../../protobuf/wire-reader.ts'
import { WireWriter } from '../../protobuf/wire-writer.ts'
import { containerPort } from './container-port.ts'
import { DeadlineExceeded, withDeadline } from './deadline.ts'
import { grpcCall } from './grpc-call.ts'
import { grpcSession } from './grpc-session.ts'
import type { GrpcStatus } from './grpc-status.ts'
import { grpcStatus } from './grpc-status.ts'
import { kubernetesVersion } from './http-request.ts'
import type { ProbeContext } from './probe-context.ts'
import type { ProbeOutcome } from './probe-outcome.ts'

/**
 * The path of the method `Check`, and the names of the states, from the gRPC health checking protocol
 * (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). The number of a state is the index of its name.
 */
const path = '/grpc.health.v1.Health/Check'
const servingStates = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']

/** Runs a `grpc` probe (k8s.io/kubernetes/pkg/probe/grpc: Probe). @throws {ProbeError} for an invalid port. */
export async function grpcProbe({ port: declared, service }: NonNullable<ProbeSpec['grpc']>, context: ProbeContext): Promise<ProbeOutcome> {
  const { target, clock, timeoutMs, signal: ended } = context
  const port = containerPort(declared, context.container)
  let session: ClientHttp2Session | undefined
  try {
    return await withDeadline(timeoutMs, context, async (signal) => {
      session = await grpcSession(target, { port, clock, signal })
      return await check(session, { service: service ?? '', timeoutMs, signal })
    })
  } catch (error) {
    ended.throwIfAborted()
    if (!(error instanceof DeadlineExceeded)) throw error
    if (session !== undefined) return callTimedOut(timeoutMs)
    const address = quote(`${urlHost(target.address)}:${port}`)
    return failure(`timeout: failed to connect service ${address} within ${formatGoDuration(timeoutMs)}: ${error.message}`)
  } finally {
    session?.destroy()
  }
}

interface CheckOptions {
  readonly service: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

async function check(session: ClientHttp2Session, { service, timeoutMs, signal }: CheckOptions): Promise<ProbeOutcome> {
  const request = new WireWriter()
  request.string(1, service)
  const userAgent = `kube-probe/${kubernetesVersion}`
  const { message, status } = await grpcCall(session, { path, userAgent, message: request.bytes(), timeoutMs }, signal)
  if (status !== undefined) return failedCall(status, timeoutMs)
  try {
    const state = stateOf(message)
    if (state === 'SERVING') return { kind: 'success', output: 'service healthy' }
    return failure(`service unhealthy (responded with ${quote(state)})`)
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    return failedCall(
      grpcStatus('Internal', 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data'),
      timeoutMs,
    )
  }
}

/** Returns the name of the state in a HealthCheckResponse, or the number of a state without a name. */
function stateOf(message: Buffer): string {
  const reader = new WireReader(message)
  let state = 0
  while (!reader.done) {
    const { number, wireType } = reader.tag('HealthCheckResponse')
    if (number === 1 && wireType === wireTypes.varint) state = Number(BigInt.asIntN(32, reader.varint()))
    else reader.skip(wireType)
  }
  return servingStates[state] ?? String(state)
}

function failedCall({ code, message }: GrpcStatus, timeoutMs: number): ProbeOutcome {
  switch (code) {
    case 'Unimplemented':
      return failure(`error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`)
    case 'DeadlineExceeded':
      return callTimedOut(timeoutMs)
    default:
      return failure(`error: health rpc probe failed: rpc error: code = ${code} desc = ${message}`)
  }
}

function callTimedOut(timeoutMs: number): ProbeOutcome {
  return failure(`timeout: health rpc did not complete within ${formatGoDuration(timeoutMs)}`)
}

function failure(output: string): ProbeOutcome {
  return { kind: 'failure', output }
}
