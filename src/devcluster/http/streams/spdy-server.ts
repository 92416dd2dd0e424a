/** Serves SPDY/3.1 connections. */
import type { Duplex } from 'node:stream'
import { messageOf } from '../../../api/errors.ts'
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Exchange, UpgradedConnection } from '../exchange.ts'
import { sendHeartbeats } from './heartbeats.ts'
import type { SpdyOptions } from './spdy/connection.ts'
import { SpdyConnection } from './spdy/connection.ts'
import { ProtocolError } from './spdy/protocol-error.ts'
import { headerValues, negotiated } from './upgrade.ts'

/** Time in milliseconds that the server waits for the client to close the connection, after the server has ended its own side. */
const closeMs = 5_000
const versionHeader = 'x-stream-protocol-version'

export interface SpdyServing {
  readonly clock: Clock
  readonly logger: Logger
  /** Aborted at the end of the connection. */
  readonly signal: AbortSignal
}

/**
 * Responds to an upgrade to SPDY/3.1. Returns the negotiated version of the Kubernetes streaming protocol, e.g. `v4.channel.k8s.io`.
 *
 * @throws {StatusError} 403 when the server accepts none of the client's versions
 */
export function switchToSpdy(exchange: Exchange, { socket, head }: UpgradedConnection, accepted: readonly string[]): string {
  const offered = headerValues(exchange, versionHeader)
  exchange.response.setHeader('X-Accepted-Stream-Protocol-Versions', [...accepted])
  const version = negotiated(offered, accepted)
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${version}`]
  exchange.response.statusCode = 101
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (head.length > 0) socket.unshift(head)
  return version
}

/** Serves the streams of a connection in the background until the connection ends. Logs errors of the connection. */
export function serveSpdy(socket: Duplex, options: SpdyOptions, { clock, logger, signal }: SpdyServing): SpdyConnection {
  const connection = new SpdyConnection(socket, options)
  sendHeartbeats({ clock, socket, signal }, (onFlushed) => connection.ping(onFlushed))
  connection
    .run()
    .catch((error: unknown) => {
      // A ProtocolError is always caused by the client, so the error is logged at the debug level.
      if (error instanceof ProtocolError) logger.debug({ err: messageOf(error) }, 'a client violated SPDY')
      else logger.error({ err: error }, 'a SPDY connection failed')
    })
    .finally(() => socket.end(() => socket.destroy()))
  return connection
}

/** Closes a connection after all written frames have been sent. Resolves when the connection is closed. */
export function closeSpdy(connection: SpdyConnection, socket: Duplex, clock: Clock): Promise<void> {
  if (socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = clock.after(closeMs, () => socket.destroy())
    socket.once('close', () => {
      timer.cancel()
      resolve()
    })
    connection.close()
  })
}
