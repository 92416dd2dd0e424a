/**
 * `SpdyStream`: one stream of a SPDY connection. `end` sends a frame with FLAG_FIN. If the client or the server has not ended its side of
 * the stream, `destroy` sends a RST_STREAM frame. `receiveReset` sends no frame.
 */
import { Duplex } from 'node:stream'
import { ReceivedBytes } from './flow-control.ts'
import type { Headers } from './header-block.ts'

/**
 * Number of bytes of one stream that are buffered for the reader. When the buffer is full, the connection reads no further frames. The flow
 * control of TCP then prevents the client from sending more data. The Go clients of Kubernetes have no other flow control.
 */
export const streamBufferBytes = 64 * 1024

/** The methods of a connection that a stream calls to send frames. */
export interface FrameSender {
  /** Resolves when the bytes have been passed to the operating system. */
  sendData(streamId: number, bytes: Buffer): Promise<void>
  sendFin(streamId: number): Promise<void>
  /** Called once, at the end of the stream. `isComplete` is true when both sides have sent their last frames, or after `receiveReset`. */
  closed(streamId: number, isComplete: boolean): void
}

export class SpdyStream extends Duplex {
  readonly id: number
  readonly headers: Headers
  readonly #sender: FrameSender
  #continue: (() => void) | undefined
  #isReset = false
  #hasEnded = false
  /** Counts the received bytes of this stream for its WINDOW_UPDATE frames. */
  readonly received = new ReceivedBytes()

  constructor(id: number, headers: Headers, sender: FrameSender) {
    super({ readableHighWaterMark: streamBufferBytes })
    this.id = id
    this.headers = headers
    this.#sender = sender
    // This listener does nothing, but without a listener, an `error` event would end the process. The reader and the writer detect the end
    // of the stream by the event `close`, so they need no `error` event.
    this.on('error', () => undefined)
  }

  /**
   * Adds bytes from the client to the buffer of the reader. Resolves when the connection can read further frames: immediately if the buffer
   * is not full, otherwise when the reader needs more bytes or the stream is destroyed.
   */
  async receive(bytes: Buffer): Promise<void> {
    if (bytes.length === 0 || this.destroyed || this.#hasEnded || this.push(bytes)) return
    await new Promise<void>((resolve) => (this.#continue = resolve))
  }

  /** Ends the client's side of the stream. */
  receiveEnd(): void {
    if (this.destroyed || this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
  }

  /** Ends the stream because the client has sent RST_STREAM, or because the connection has ended. */
  receiveReset(): void {
    this.#isReset = true
    this.destroy()
  }

  override _read(): void {
    this.#continue?.()
    this.#continue = undefined
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#sender.sendData(this.id, bytes).then(() => callback(), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#sender.sendFin(this.id).then(() => callback(), callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#continue?.()
    this.#continue = undefined
    this.#sender.closed(this.id, this.#isReset || (this.readableEnded && this.writableFinished))
    callback(error)
  }
}
