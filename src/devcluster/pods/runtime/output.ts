/** `Output`: one output stream of a container. The log gets the whole output. A client gets the output after it has attached. */
import { PassThrough, type Readable } from 'node:stream'

/** The largest number of bytes that wait for a slow client. With more, the client is cut off: the container does not wait for clients. */
const maxBehindBytes = 1024 * 1024

export class Output {
  /** All output. The container waits while its log cannot be written. */
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

  /** Returns a stream of the output from now on. The caller destroys the stream when the client has left. */
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
