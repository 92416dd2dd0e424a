/** The bytes of a body as they arrive, in one buffer that grows: many small chunks would take a hundred times the memory of what is in them. */

/** Room for the first chunk of most bodies. */
const firstBytes = 16 * 1024

export class GrowingBytes {
  readonly #expected: number
  #bytes = Buffer.alloc(0)
  #length = 0

  /** @param expected how many bytes will come, as their sender says: never more room than that is made before they do. */
  constructor(expected: number) {
    this.#expected = expected
  }

  get length(): number {
    return this.#length
  }

  /** How large the buffer has to become for `more` bytes. */
  roomFor(more: number): number {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return this.#bytes.length
    // Doubled, so that each byte is copied about once.
    return Math.max(needed, Math.min(this.#expected, Math.max(firstBytes, 2 * this.#bytes.length)))
  }

  get room(): number {
    return this.#bytes.length
  }

  push(chunk: Buffer): void {
    this.#resize(this.roomFor(chunk.length))
    chunk.copy(this.#bytes, this.#length)
    this.#length += chunk.length
  }

  /** All of them, in memory that is nobody else's: what is large may be given to a thread. */
  whole(): Buffer {
    this.#resize(this.#length)
    return this.#bytes
  }

  /** Gives the memory back at once: the garbage collector, which does not see it, would let a lot of it pile up. */
  free(): void {
    freeBytes(this.#bytes)
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
  }

  #resize(room: number): void {
    if (room === this.#bytes.length) return
    const before = this.#bytes
    this.#bytes = Buffer.allocUnsafeSlow(room)
    before.copy(this.#bytes, 0, 0, this.#length)
    freeBytes(before)
  }
}

function freeBytes({ buffer }: Buffer): void {
  // That of a thread has moved.
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength > 0) buffer.transfer(0)
}
