/** `LineSplitter`: splits a stream of buffers into lines. */
import { ProreusError } from '../api/errors.ts'

/**
 * Maximum length of a line in bytes. An object in a request has at most 3 MiB, so a watch event is always shorter than this limit. The
 * limit bounds the memory that a malformed stream, or a log without newlines, can use.
 */
const longestLine = 32 * 1024 * 1024
const newline = 10

export class LineSplitter {
  readonly #longest: number
  readonly #keepsEmpty: boolean
  #pending: Buffer[] = []
  #pendingBytes = 0

  /** With `keepsEmpty`, empty lines are returned, too. */
  constructor(longest = longestLine, { keepsEmpty = false } = {}) {
    this.#longest = longest
    this.#keepsEmpty = keepsEmpty
  }

  /**
   * Returns the lines whose final newline is in `chunk`. The returned lines do not contain the newline. By default, empty lines are
   * omitted.
   */
  push(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#take(chunk.subarray(start, end))
      if (line.length > 0 || this.#keepsEmpty) lines.push(line)
      start = end + 1
    }
    if (start < chunk.length) {
      this.#count(chunk.length - start)
      this.#pending.push(chunk.subarray(start))
    }
    return lines
  }

  /** Returns the bytes after the last newline; empty when there are none. */
  end(): Buffer {
    return this.#take(Buffer.alloc(0))
  }

  #take(rest: Buffer): Buffer {
    this.#count(rest.length)
    const line = this.#pending.length === 0 ? rest : Buffer.concat([...this.#pending, rest])
    this.#pending = []
    this.#pendingBytes = 0
    return line
  }

  #count(bytes: number): void {
    this.#pendingBytes += bytes
    if (this.#pendingBytes > this.#longest) {
      throw new ProreusError(
        'PRO_API',
        `The API server sent a line of more than ${this.#longest} bytes, which is more than a watch event or a line of a log may have.`,
      )
    }
  }
}
