/** Heartbeats show the server that a client has left, even while the server reads nothing from the connection. */
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../runtime/clock.ts'

/** Time between two heartbeats in milliseconds. */
const periodMs = 10_000
/** Time in milliseconds after which a client that reads nothing is disconnected: the kubelet's default of streamingConnectionIdleTimeout. */
const stuckMs = 4 * 60 * 60 * 1000

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly socket: Duplex
  /** Ends the heartbeats. The signal aborts at the end of the connection. */
  readonly signal: AbortSignal
}

/**
 * Calls `ping` periodically. While the process of a container does not read its stdin, the server does not read the connection. Only a
 * failed write then shows that the client has left. The client need not answer a ping: while the user has stopped the output, the client
 * does not answer.
 *
 * @param ping writes a ping to the connection, and calls `onFlushed` when the operating system has the bytes
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
