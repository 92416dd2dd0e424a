/** Accepts WebSocket connections. */
import type { WebSocket } from 'ws'
import { badRequest } from '../../apimachinery/status-error.ts'
import type { Exchange, UpgradedConnection } from '../exchange.ts'

/**
 * Maximum size of a message in bytes. The limit is necessary, because a message is stored in memory. kube-apiserver has the same limit
 * (golang.org/x/net/websocket: DefaultMaxPayloadBytes).
 */
const maxMessageBytes = 32 * 1024 * 1024

/** The code with which a WebSocket is closed after a complete exchange (RFC 6455, section 7.4.1). */
export const normalClosure = 1000

/**
 * Completes the handshake.
 *
 * @param subprotocol the subprotocol that the caller has negotiated; empty for a client without subprotocols
 * @throws {StatusError} 400 when the handshake is malformed
 */
export async function acceptWebSocket(
  { request, response }: Exchange,
  connection: UpgradedConnection,
  subprotocol: string,
): Promise<WebSocket> {
  const { socket, head } = connection
  // The library is loaded at the first use, because most clusters do not need it.
  const { WebSocketServer } = await import('ws')
  const server = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload: maxMessageBytes })
  // kubectl sends the subprotocol `SPDY/3.1+portforward.k8s.io`. The library would reject the request, because a slash is invalid in the
  // name of a subprotocol.
  delete request.headers['sec-websocket-protocol']
  if (subprotocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`))
  return new Promise((resolve, reject) => {
    server.on('wsClientError', (error) => reject(badRequest(`unable to upgrade: ${error.message}`)))
    socket.once('close', () => reject(new Error('the client has closed the connection')))
    server.handleUpgrade(request, socket, head, (webSocket) => {
      response.statusCode = 101
      // This listener does nothing, because `close` follows each error, and callers handle `close`. The listener is necessary, because an
      // error without a listener would end the process.
      webSocket.on('error', () => undefined)
      resolve(webSocket)
    })
  })
}
