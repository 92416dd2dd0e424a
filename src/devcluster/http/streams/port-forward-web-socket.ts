/**
 * Port-forward over the channels of a WebSocket (k8s.io/cri-streaming/pkg/streaming/portforward: handleWebSocketStreams). Each port has one
 * connection with two channels: data and errors.
 */
import { finished } from 'node:stream/promises'
import type { Exchange } from '../exchange.ts'
import { forwardPort } from './forward-port.ts'
import { sendHeartbeats } from './heartbeats.ts'
import { requestedPorts } from './port-numbers.ts'
import type { StreamServices } from './stream-services.ts'
import type { StoredPod } from './target-container.ts'
import type { RequestedUpgrade } from './upgrade.ts'
import { negotiated } from './upgrade.ts'
import { WebSocketChannels } from './web-socket-channels.ts'
import { acceptWebSocket } from './web-socket.ts'

const subprotocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', ''] as const

/**
 * Forwards the requested ports over the channels of a WebSocket.
 *
 * @throws {StatusError} when the request is refused before the upgrade of the connection, e.g. because of an invalid port
 */
export async function forwardChannels(
  exchange: Exchange,
  upgrade: RequestedUpgrade,
  { pod, offered, services }: { readonly pod: StoredPod; readonly offered: readonly string[]; readonly services: StreamServices },
): Promise<void> {
  const ports = requestedPorts(exchange.query)
  const subprotocol = negotiated(offered.length === 0 ? [''] : offered, subprotocols)
  const webSocket = await acceptWebSocket(exchange, upgrade, subprotocol)
  const { clock, containers } = services
  sendHeartbeats({ clock, socket: upgrade.socket, signal: exchange.signal }, (onFlushed) => webSocket.ping('', false, onFlushed))
  const channels = new WebSocketChannels(webSocket, { isBase64: subprotocol.includes('base64'), hasCloseSignal: false })
  await Promise.all(
    ports.map(async (port, index) => {
      const [dataChannel, errorChannel] = [2 * index, 2 * index + 1]
      const input = channels.readable(dataChannel)
      const output = channels.writable(dataChannel)
      for (const channel of [dataChannel, errorChannel]) channels.send(channel, littleEndian(port))
      const failure = await forwardPort({ containers, pod, port }, { input, output, hasHalfClose: false })
      if (failure === undefined) return
      const errors = channels.writable(errorChannel)
      errors.end(failure)
      await finished(errors).catch(() => undefined)
    }),
  )
  await channels.close()
}

/** Encodes a port number. The first message of each channel is the number of the forwarded port. */
function littleEndian(port: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(port)
  return bytes
}
