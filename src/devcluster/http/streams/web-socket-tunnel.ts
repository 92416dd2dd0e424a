/**
 * `webSocketTunnel`: returns a duplex stream of bytes over a WebSocket. The stream reads and writes the content of binary messages
 * (k8s.io/client-go/tools/portforward: TunnelingConnection).
 */
import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { normalClosure } from './web-socket.ts'

const bufferBytes = 64 * 1024

export function webSocketTunnel(webSocket: WebSocket): Duplex {
  const tunnel = new Duplex({
    highWaterMark: bufferBytes,
    read: () => webSocket.resume(),
    write: (bytes: Buffer, _encoding, callback) => webSocket.send(bytes, callback),
    final(callback) {
      webSocket.close(normalClosure)
      // If the connection stayed paused, the server would not read the client's close frame.
      webSocket.resume()
      callback()
    },
    destroy(error, callback) {
      webSocket.terminate()
      callback(error)
    },
  })
  tunnel.on('error', () => undefined)
  webSocket.on('message', (data, isBinary) => {
    if (webSocket.readyState !== webSocket.OPEN) return
    if (!isBinary || !Buffer.isBuffer(data)) tunnel.destroy()
    else if (!tunnel.destroyed && !tunnel.push(data)) webSocket.pause()
  })
  webSocket.once('close', () => tunnel.destroy())
  return tunnel
}
