/** Works around a bug of Node.js with requests that arrive before the last response is sent. */
import type { Socket } from 'node:net'

/** Maximum length in UTF-16 units of a response that fits into the buffer of a socket, whatever its characters. */
export const longAnswer = 16 * 1024

/**
 * Keeps a TLS connection usable on which a request arrives during a long response. While a response fills the buffer of a socket, Node.js
 * pauses the HTTP parser at the next request; over TLS it nevertheless feeds the parser with decrypted bytes, and then closes the
 * connection (`HPE_PAUSED`). With a listener for `data`, the parser reads from the stream, which buffers while it is paused. The listener
 * costs a tenth of the CPU time, so it is added only for long responses.
 */
export function expectEarlyRequest(socket: Socket | null): void {
  if (socket !== null && !socket.listeners('data').includes(ignore)) socket.on('data', ignore)
}

function ignore(): void {
  // The listener is empty, because the HTTP parser has a listener of its own.
}
