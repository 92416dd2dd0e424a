/** The streams of an exec or an attach over a WebSocket (k8s.io/cri-streaming/pkg/streaming/remotecommand: createWebSocketStreams). */
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { sendHeartbeats } from './heartbeats.ts'
import type { RemoteStreams, StreamRequest } from './remote-streams.ts'
import { statusText } from './remote-streams.ts'
import { headerValues, negotiated } from './upgrade.ts'
import { WebSocketChannels } from './web-socket-channels.ts'
import { acceptWebSocket } from './web-socket.ts'

/**
 * The subprotocols. The empty name stands for the first version of the protocol. This version is used for a client that offers no
 * subprotocol.
 */
const subprotocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  '',
] as const

/** The numbers of the channels (k8s.io/apimachinery/pkg/util/remotecommand). */
const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

/** @throws {StatusError} when the client supports none of the subprotocols, or the handshake is malformed */
export async function webSocketStreams({ exchange, upgrade, options, clock }: StreamRequest): Promise<RemoteStreams> {
  const offered = headerValues(exchange, 'sec-websocket-protocol')
  const subprotocol = negotiated(offered.length === 0 ? [''] : offered, subprotocols)
  const webSocket = await acceptWebSocket(exchange, upgrade, subprotocol)
  const channels = new WebSocketChannels(webSocket, {
    isBase64: subprotocol.includes('base64'),
    hasCloseSignal: subprotocol.startsWith('v5.'),
  })
  sendHeartbeats({ clock, socket: upgrade.socket, signal: exchange.signal }, (onFlushed) => webSocket.ping('', false, onFlushed))
  const { stdin, stdout, stderr, tty } = options
  // An empty message on the first channel for output shows the client that the connection is established.
  channels.send(stdout ? channel.stdout : stderr ? channel.stderr : channel.error, Buffer.alloc(0))
  return {
    ...(stdin ? { stdin: channels.readable(channel.stdin) } : {}),
    ...(stdout ? { stdout: channels.writable(channel.stdout) } : {}),
    ...(stderr ? { stderr: channels.writable(channel.stderr) } : {}),
    ...(tty ? { resize: channels.readable(channel.resize) } : {}),
    async finish(result) {
      await sent(channels.writable(channel.error), statusText(result, /^v[45]\./.test(subprotocol)))
      await channels.close()
    },
  }
}

/**
 * Writes the text if the text is not empty, and then ends the stream. Resolves when the text has been sent, or when the connection has
 * ended.
 */
async function sent(stream: Writable, text: string): Promise<void> {
  if (text !== '') stream.write(text)
  stream.end()
  await finished(stream).catch(() => undefined)
}
