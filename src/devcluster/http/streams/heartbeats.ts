/**
 * Sends heartbeats to clients. A failed heartbeat shows that the client has disconnected, even while the server does not read from the
 * connection.
 */
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../runtime/clock.ts'

/** Time between two heartbeats in milliseconds. */
const periodMs = 10_000
/**
 * Time in milliseconds after which a client that reads nothing is disconnected. The kubelet's `streamingConnectionIdleTimeout` has the same
 * default.
 */
const stuckMs = 4 * 60 * 60 * 1000

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly socket: Duplex
  /** The heartbeats end when this signal aborts. The signal aborts at the end of the connection. */
  readonly signal: AbortSignal
}

/**
 * Calls `ping` periodically. If the client has disconnected, the write of the ping fails. No other event shows reliably that the client has
 * disconnected:
 *
 * - While the process of a container does not read its stdin, the server does not read from the connection, so no read can fail.
 * - While the user has paused the output, the client sends no reply to a ping. A missing reply therefore does not show that the client has
 *   disconnected.
 *
 * @param ping writes a ping to the connection, and calls `onFlushed` when the operating system has received the bytes
 */
export function sendHeartbeats({ clock, socket, signal }: HeartbeatOptions, ping: (onFlushed: () => void) => void): void {
  if (signal.aborted) return
  let isFlushed = true
  let flushedAt = clock.monotonicNow()
  const beat = (): void => {
    if (isFlushed) {
      isFlushed = false
      ping(() => {
        isFlushed = true
        flushedAt = clock.monotonicNow()
      })
    } else if (clock.monotonicNow() - flushedAt >= stuckMs) {
      socket.destroy()
    }
    timer = clock.after(periodMs, beat)
  }
  let timer = clock.after(periodMs, beat)
  signal.addEventListener('abort', () => timer.cancel(), { once: true })
}
