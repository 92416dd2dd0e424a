/** `ProtocolError`: a client that violates SPDY/3.1. Its connection ends. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}
