/** `ProtocolError`: thrown when a client violates SPDY/3.1. The connection of this client then ends. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}
