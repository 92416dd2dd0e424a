/** `ByteReader`: reads a certain number of bytes from the chunks of a stream. */

export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** Returns the next `length` bytes. Returns undefined if fewer bytes remain before the end of the stream. */
  async exactly(length: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let left = length; left > 0;) {
      const part = await this.upTo(left)
      if (part === undefined) return undefined
      parts.push(part)
      left -= part.length
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  /** Returns at least one and at most `length` bytes; undefined at the end of the stream. */
  async upTo(length: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return undefined
      this.#rest = value
    }
    const bytes = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(bytes.length)
    return bytes
  }
}
