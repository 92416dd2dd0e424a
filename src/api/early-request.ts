/** Connections whose next request comes before their last answer has left. */
import type { Socket } from 'node:net'

/** The length in UTF-16 units up to which an answer fits into the buffer of a socket, whatever its characters. */
export const longAnswer = 16 * 1024

/**
 * Has a TLS connection, over which a long answer is sent, survive an early request. While an answer fills the buffer of a socket, Node pauses
 * the HTTP parser at the next request; over TLS it goes on feeding it with what has been decrypted already, and then ends the connection
 * (`HPE_PAUSED`). With a listener for `data`, the parser is fed from the stream, which keeps what comes while it is paused. That costs a
 * tenth of the processor time, and so is only done where it is needed.
 */
export function expectEarlyRequest(socket: Socket | null): void {
  if (socket !== null && !socket.listeners('data').includes(ignore)) socket.on('data', ignore)
}

function ignore(): void {
  // The HTTP parser has a listener of its own.
}
