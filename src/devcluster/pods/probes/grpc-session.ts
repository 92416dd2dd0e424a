/** `grpcSession`: an HTTP/2 connection without TLS. The client tries to connect until it succeeds or the signal aborts. */
import type { ClientHttp2Session } from 'node:http2'
import { connect } from 'node:http2'
import type { Clock } from '../../../runtime/clock.ts'
import { urlHost } from '../../../runtime/listen.ts'
import { sleep } from '../../../runtime/waiting.ts'
import { ConnectionError, dial } from './dial.ts'
import type { ProbeTarget } from './probe-target.ts'

export interface GrpcSessionOptions {
  readonly port: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * The delay in milliseconds before the second attempt, and the factor by which the delay grows with each attempt
 * (google.golang.org/grpc/backoff: DefaultConfig, without the jitter). The delay has no maximum, because a probe usually ends before Go's
 * maximum of 120 seconds is reached.
 */
const [firstDelayMs, factor] = [1000, 1.6]

/**
 * Connects to a server. Tries again when the connection fails (google.golang.org/grpc: WithBlock). Resolves when the server has sent its
 * settings. The caller has to destroy the session. Rejects with the reason of the signal when the signal aborts.
 */
export async function grpcSession(target: ProbeTarget, options: GrpcSessionOptions): Promise<ClientHttp2Session> {
  const { clock, signal } = options
  for (let delayMs = firstDelayMs; ; delayMs *= factor) {
    try {
      return await startSession(target, options)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ConnectionError)) throw error
    }
    await sleep(clock, delayMs, signal)
  }
}

async function startSession(target: ProbeTarget, { port, signal }: GrpcSessionOptions): Promise<ClientHttp2Session> {
  const { socket } = await dial(target, { port, signal })
  const session = connect(`http://${urlHost(target.address)}:${port}`, { createConnection: () => socket, settings: { enablePush: false } })
  // If the session had no listener for `error`, an error of the session would end the process. The listener can ignore the error, because
  // `settingsOf` and the calls of the session also fail, and report the failure.
  session.on('error', () => undefined)
  try {
    await settingsOf(session, signal)
    return session
  } catch (error) {
    session.destroy()
    socket.destroy()
    throw error
  }
}

function settingsOf(session: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    session.once('remoteSettings', () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    session.once('error', (error) => reject(new ConnectionError('the server does not speak HTTP/2', { cause: error })))
    session.once('close', () => {
      signal.removeEventListener('abort', abort)
      reject(new ConnectionError('the server has closed the connection'))
    })
  })
}
