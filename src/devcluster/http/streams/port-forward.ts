/** Handles requests for `pods/NAME/portforward`, which connect a client to ports of a Pod. */
import type { Duplex } from 'node:stream'
import { aborted, untilAborted } from '../../../runtime/waiting.ts'
import { badRequest } from '../../apimachinery/status-error.ts'
import type { Exchange } from '../exchange.ts'
import { ForwardedPairs } from './port-forward-spdy.ts'
import { forwardChannels } from './port-forward-web-socket.ts'
import type { StreamServices } from './stream-services.ts'
import { serveSpdy, switchToSpdy } from './spdy-server.ts'
import type { StoredPod } from './target-container.ts'
import { headerValues, negotiated, requestedUpgrade } from './upgrade.ts'
import { webSocketTunnel } from './web-socket-tunnel.ts'
import { acceptWebSocket } from './web-socket.ts'

const spdyVersion = 'portforward.k8s.io'
/**
 * The WebSocket subprotocol for a tunnelled SPDY connection (k8s.io/apimachinery/pkg/util/portforward:
 * WebsocketsSPDYTunnelingPortForwardV1).
 */
const tunnelled = `SPDY/3.1+${spdyVersion}`

/** Maximum number of streams of one client. Each forwarded connection has two streams. */
const maxStreams = 1000

/**
 * Forwards connections until the client disconnects.
 *
 * @throws {StatusError} when the request is refused before the upgrade of the connection
 */
export async function servePortForward(exchange: Exchange, pod: StoredPod, services: StreamServices): Promise<void> {
  // k8s.io/kubernetes/pkg/registry/core/pod: PortForwardLocation.
  if (!pod.isScheduled) throw badRequest(`pod ${pod.name} does not have a host assigned`)
  const upgrade = requestedUpgrade(exchange)
  const { signal } = exchange
  if (upgrade.protocol === 'spdy') {
    switchToSpdy(exchange, upgrade, [spdyVersion])
    return servePairs(upgrade.socket, pod, services, signal)
  }
  const offered = headerValues(exchange, 'sec-websocket-protocol')
  if (!offered.some((name) => name.startsWith('SPDY/3.1+')))
    return untilAborted(forwardChannels(exchange, upgrade, { pod, offered, services }), signal, () => undefined)
  const webSocket = await acceptWebSocket(exchange, upgrade, negotiated(offered, [tunnelled]))
  return servePairs(webSocketTunnel(webSocket), pod, services, signal)
}

async function servePairs(connection: Duplex, pod: StoredPod, services: StreamServices, signal: AbortSignal): Promise<void> {
  const pairs = new ForwardedPairs(pod, services)
  serveSpdy(connection, { maxStreams, onStream: (stream) => pairs.add(stream) }, { ...services, signal })
  await aborted(signal)
}
