/** Works around a bug of Node.js with a request that arrives before the previous response has been sent completely. */
import type { Socket } from 'node:net'

/** A response of at most this many UTF-16 units fits into the buffer of a socket, even if each unit takes three bytes of UTF-8. */
export const longAnswer = 16 * 1024

/**
 * Prevents Node.js from closing a TLS connection on which a request arrives during a long response.
 *
 * If the next request arrives while a response fills the buffer of the socket, Node.js pauses the stream of the socket and the HTTP parser.
 * On a TLS connection, the paused parser nevertheless gets the decrypted bytes, because it does not read them from the stream. Node.js then
 * closes the connection (`HPE_PAUSED`). If the socket has a listener for `data`, the parser reads from the stream instead, and a paused
 * stream buffers the bytes.
 *
 * The listener increases the CPU time of a request by a tenth, so it is added only for long responses.
 */
export function expectEarlyRequest(socket: Socket | null): void {
  if (socket !== null && !socket.listeners('data').includes(ignore)) socket.on('data', ignore)
}

function ignore(): void {
  // The listener does nothing, because the HTTP parser adds its own listener.
}
