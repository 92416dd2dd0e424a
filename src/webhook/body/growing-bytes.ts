/**
 * Collects the chunks of a body in one growing buffer. If each small chunk had a separate buffer, the buffers could take a hundred times
 * the memory of the chunks.
 */

/** Initial size of the buffer in bytes. Most bodies arrive completely in one chunk of at most this size. */
const firstBytes = 16 * 1024

export class GrowingBytes {
  readonly #expected: number
  #bytes = Buffer.alloc(0)
  #length = 0

  /**
   * @param expected the length of the body in bytes, as stated in the header `Content-Length`. The buffer starts small, and grows while
   *   bytes arrive.
   */
  constructor(expected: number) {
    this.#expected = expected
  }

  get length(): number {
    return this.#length
  }

  /**
   * Returns the size in bytes that the buffer would have after `push` of a chunk with `more` bytes. The size can include unused space for
   * later chunks. This method does not change the buffer.
   */
  roomFor(more: number): number {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return this.#bytes.length
    // The size doubles up to the expected size, so on average each byte is copied only about once.
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

  /** Returns all bytes. Their ArrayBuffer contains no other bytes, so the ArrayBuffer can be transferred to a worker thread. */
  whole(): Buffer {
    this.#resize(this.#length)
    return this.#bytes
  }

  /**
   * Frees the memory immediately. Otherwise, the memory could remain allocated for long. A buffer is outside the JavaScript heap, so its
   * size does not trigger a garbage collection.
   */
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
  // A buffer that was transferred to a worker thread is detached.
  if (buffer instanceof ArrayBuffer && !buffer.detached && buffer.byteLength > 0) buffer.transfer(0)
}
