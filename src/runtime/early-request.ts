/** Works around a bug of Node.js. The bug affects a request that arrives before the previous response has been sent completely. */
import type { Socket } from 'node:net'

/**
 * Maximum length of a short response, in UTF-16 code units for a string, and in bytes for a buffer. Callers use `expectEarlyRequest` for
 * longer responses. A short response has at most 48 KiB of UTF-8, and therefore fits into the 64 KiB write buffer of a socket.
 */
export const longAnswer = 16 * 1024

/**
 * Prevents Node.js from closing a TLS connection on which a request arrives during a long response. Without this function, the connection
 * is closed in these steps:
 *
 * - The request arrives while the response still fills the buffer of the socket. Node.js pauses the socket's stream and the HTTP parser.
 * - On a TLS connection, decrypted bytes bypass the stream and reach the paused parser.
 * - The parser fails with `HPE_PAUSED`, and Node.js closes the connection.
 *
 * With a `data` listener on the socket, the parser reads from the stream, which buffers bytes while it is paused.
 *
 * The listener increases the CPU time of a request by 10 %, so callers add the listener only for long responses.
 */
export function expectEarlyRequest(socket: Socket | null): void {
  if (socket !== null && !socket.listeners('data').includes(ignore)) socket.on('data', ignore)
}

function ignore(): void {
  // The listener does nothing with the bytes, because the HTTP parser has its own listener for them.
}
