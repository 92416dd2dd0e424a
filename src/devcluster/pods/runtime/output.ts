/**
 * `Output`: one output stream of a container. The log receives the whole output. A client receives only the output that is written after
 * the client has attached.
 */
import { PassThrough, type Readable } from 'node:stream'

/**
 * The maximum number of bytes that are buffered for a slow client. If more bytes are buffered, the stream of the client is destroyed,
 * because the container must not wait for clients.
 */
const maxBehindBytes = 1024 * 1024

export class Output {
  /** The whole output. If the container writes output faster than the log is written, the container waits. */
  readonly log = new PassThrough()
  readonly #clients = new Set<PassThrough>()

  constructor(source: Readable) {
    source.on('data', (chunk: Buffer) => {
      if (!this.log.write(chunk)) {
        source.pause()
        this.log.once('drain', () => source.resume())
      }
      for (const client of this.#clients) this.#send(client, chunk)
    })
    const end = (): void => {
      this.log.end()
      for (const client of this.#clients) client.end()
      this.#clients.clear()
    }
    source.once('end', end)
    source.once('close', end)
    source.once('error', end)
  }

  get hasEnded(): boolean {
    return this.log.writableEnded
  }

  /**
   * Returns a stream of the output that the container writes after this call. The caller must destroy the stream when the client has
   * disconnected.
   */
  attach(): Readable {
    const client = new PassThrough()
    if (this.hasEnded) client.end()
    else this.#clients.add(client)
    client.once('close', () => this.#clients.delete(client))
    return client
  }

  #send(client: PassThrough, chunk: Buffer): void {
    if (client.destroyed) return
    client.write(chunk)
    if (client.writableLength + client.readableLength > maxBehindBytes) client.destroy()
  }
}
