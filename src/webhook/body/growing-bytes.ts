/** Collects the chunks of a body in one growing buffer: many small buffers would take a hundred times the memory of their content. */

/** Initial size; most bodies arrive in a first chunk of at most this size. */
const firstBytes = 16 * 1024

export class GrowingBytes {
  readonly #expected: number
  #bytes = Buffer.alloc(0)
  #length = 0

  /** @param expected the announced number of bytes; memory is allocated only for bytes that arrive. */
  constructor(expected: number) {
    this.#expected = expected
  }

  get length(): number {
    return this.#length
  }

  /** Returns the size to which the buffer must grow to take `more` further bytes. */
  roomFor(more: number): number {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return this.#bytes.length
    // The size at least doubles, so each byte is copied about once.
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

  /** Returns all bytes in an ArrayBuffer of their own, which can be transferred to a thread. */
  whole(): Buffer {
    this.#resize(this.#length)
    return this.#bytes
  }

  /** Frees the memory at once. The memory of buffers is not part of the heap, so the garbage collector would let it pile up. */
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
  // A buffer that was transferred to a thread is detached.
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength > 0) buffer.transfer(0)
}
