/** `FirstBytes`: forwards the bytes of a connection in both directions, and keeps the first bytes that arrive. */
import { Duplex } from 'node:stream'

export class FirstBytes extends Duplex {
  /** The first bytes that have arrived, at most `count`. */
  bytes = Buffer.alloc(0)
  readonly #inner: Duplex

  constructor(inner: Duplex, count: number) {
    super()
    this.#inner = inner
    inner.on('data', (chunk: Buffer) => {
      if (this.bytes.length < count) this.bytes = Buffer.concat([this.bytes, chunk.subarray(0, count - this.bytes.length)])
      if (!this.push(chunk)) inner.pause()
    })
    inner.on('end', () => this.push(null))
    inner.on('error', (error) => this.destroy(error))
    inner.on('close', () => this.destroy())
  }

  override _read(): void {
    this.#inner.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#inner.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#inner.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inner.destroy()
    done(error)
  }
}
