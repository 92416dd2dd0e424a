/**
 * `WebSocketChannels`: several streams over one WebSocket. The first byte of each message is the number of its channel
 * (k8s.io/streaming/pkg/httpstream/wsstream: Conn).
 */
import { Readable, Writable } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { normalClosure } from './web-socket.ts'

/** Size in bytes of the buffer for the received bytes of one channel. When the buffer is full, the server stops reading the connection. */
const bufferBytes = 64 * 1024
/** The first byte of a message that closes a channel. The second byte is the number of the channel. */
const closeSignal = 255
const zero = 0x30
/** The code with which a WebSocket is closed after a violation of its protocol (RFC 6455, section 7.4.1). */
const protocolErrorClosure = 1002

export interface ChannelEncoding {
  /**
   * If true, the messages are text. The first character denotes the channel: the code of the character is 48 (the code of `0`) plus the
   * number of the channel, modulo 256. For example, `:` denotes channel 10. The rest of the text is the data in base64.
   */
  readonly isBase64: boolean
  /** True when the client can close single channels. */
  readonly hasCloseSignal: boolean
}

export class WebSocketChannels {
  readonly #webSocket: WebSocket
  readonly #encoding: ChannelEncoding
  readonly #readers = new Map<number, Readable>()
  /** The channels whose buffers are full, because their readers are slower than the client. */
  readonly #full = new Set<number>()
  readonly #closed: Promise<void>

  constructor(webSocket: WebSocket, encoding: ChannelEncoding) {
    this.#webSocket = webSocket
    this.#encoding = encoding
    webSocket.on('message', (data) => this.#onMessage(data))
    this.#closed = new Promise((resolve) =>
      webSocket.once('close', () => {
        for (const reader of this.#readers.values()) reader.destroy()
        resolve()
      }),
    )
  }

  /** Returns the stream of the bytes that the client sends on a channel. Bytes of a channel without a reader are dropped. */
  readable(channel: number): Readable {
    const reader = new Readable({ highWaterMark: bufferBytes, read: () => this.#continue(channel) })
    reader.on('error', () => undefined)
    reader.once('close', () => {
      this.#readers.delete(channel)
      this.#continue(channel)
    })
    this.#readers.set(channel, reader)
    return reader
  }

  /** Returns a stream whose bytes are sent on a channel. */
  writable(channel: number): Writable {
    const writer = new Writable({
      write: (bytes: Buffer, _encoding, callback) => this.#webSocket.send(this.#message(channel, bytes), callback),
    })
    writer.on('error', () => undefined)
    void this.#closed.then(() => writer.destroy())
    return writer
  }

  /** Sends a message on a channel. The message may be empty. */
  send(channel: number, bytes: Buffer): void {
    this.#webSocket.send(this.#message(channel, bytes), () => undefined)
  }

  /** Closes the connection after all messages have been sent. Resolves when the connection is closed. */
  close(code = normalClosure): Promise<void> {
    this.#webSocket.close(code)
    // If the connection stayed paused, the server would not read the client's close frame.
    this.#full.clear()
    this.#webSocket.resume()
    return this.#closed
  }

  #message(channel: number, bytes: Buffer): Buffer | string {
    if (this.#encoding.isBase64) return `${String.fromCharCode(lastByte(zero + channel))}${bytes.toString('base64')}`
    return Buffer.concat([Buffer.of(channel), bytes])
  }

  #onMessage(data: RawData): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN || !Buffer.isBuffer(data) || data.length === 0) return
    const [first = 0] = data
    if (this.#encoding.hasCloseSignal && first === closeSignal) {
      if (data.length === 2) this.#end(data[1]!)
      else void this.close(protocolErrorClosure)
      return
    }
    const { channel, bytes } = this.#encoding.isBase64 ? fromText(data.toString()) : { channel: first, bytes: data.subarray(1) }
    const reader = this.#readers.get(channel)
    if (reader === undefined || bytes.length === 0 || reader.push(bytes)) return
    this.#full.add(channel)
    this.#webSocket.pause()
  }

  /** Ends the stream of a channel. If the client sends bytes on this channel later, these bytes are dropped. */
  #end(channel: number): void {
    this.#readers.get(channel)?.push(null)
    this.#readers.delete(channel)
  }

  #continue(channel: number): void {
    if (this.#full.delete(channel) && this.#full.size === 0) this.#webSocket.resume()
  }
}

function fromText(text: string): { readonly channel: number; readonly bytes: Buffer } {
  return { channel: lastByte(text.charCodeAt(0) - zero), bytes: Buffer.from(text.slice(1), 'base64') }
}

function lastByte(number: number): number {
  return number & 0xff
}
