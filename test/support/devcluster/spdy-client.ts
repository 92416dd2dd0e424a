/**
 * `SpdyClient`: a client that sends single frames of SPDY/3.1 and records the frames of the server. The client can send invalid frames too.
 */
import type { Duplex } from 'node:stream'
import {
  dataFrame,
  controlFrame,
  finFlag,
  frameType,
  idAt,
  numberAt,
  readFrames,
} from '../../../src/devcluster/http/streams/spdy/frames.ts'
import type { ControlFrame } from '../../../src/devcluster/http/streams/spdy/frames.ts'
import { HeaderReader, HeaderWriter } from '../../../src/devcluster/http/streams/spdy/header-block.ts'
import { until } from '../../../src/testing/until.ts'

export class SpdyClient {
  readonly socket: Duplex
  /** The control frames of the server as texts, such as `reset 1 3`. */
  readonly events: string[] = []
  /** The bytes that the server has sent on each stream, keyed by the id of the stream. */
  readonly received = new Map<number, string>()
  /** The streams that the server has ended. */
  readonly ended = new Set<number>()
  readonly #writer = new HeaderWriter()
  readonly #reader = new HeaderReader()
  #lastId = -1

  constructor(socket: Duplex) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.once('close', () => {
      this.#reader.close()
      this.events.push('closed')
    })
  }

  /** Reads the frames of the server until the connection ends. */
  async read(): Promise<void> {
    try {
      for await (const frame of readFrames(this.socket as AsyncIterable<Buffer>)) {
        if ('bytes' in frame) {
          this.received.set(frame.streamId, (this.received.get(frame.streamId) ?? '') + frame.bytes.toString('latin1'))
          if (frame.isLast) this.ended.add(frame.streamId)
        } else {
          this.events.push(await this.#describe(frame))
        }
      }
    } catch {
      // If the connection breaks, the loop throws an error. This error is ignored, because no more frames arrive.
    }
    this.socket.destroy()
  }

  async #describe({ type, payload }: ControlFrame): Promise<string> {
    switch (type) {
      case frameType.synReply: {
        const headers = await this.#reader.read(payload.subarray(4))
        return `reply ${idAt(payload, 0)} ${headers.size}`
      }
      case frameType.rstStream:
        return `reset ${idAt(payload, 0)} ${numberAt(payload, 4)}`
      case frameType.goAway:
        return `goaway ${numberAt(payload, 4)}`
      case frameType.ping:
        return `ping ${numberAt(payload, 0)}`
      case frameType.windowUpdate:
        return `window ${idAt(payload, 0)} ${numberAt(payload, 4)}`
      default:
        return `type ${type}`
    }
  }

  /** Opens a stream. Its id is the next odd number by default. */
  open(headers: Readonly<Record<string, string>>, { id = this.#lastId + 2, flags = 0 } = {}): number {
    this.#lastId = id
    const head = Buffer.alloc(10)
    head.writeUInt32BE(id)
    const block = this.#writer.write(new Map(Object.entries(headers)))
    this.socket.write(controlFrame(frameType.synStream, Buffer.concat([head, block]), flags))
    return id
  }

  /** Sends the HEADERS frame of a stream. */
  headers(id: number, headers: Readonly<Record<string, string>>, flags = 0): void {
    const head = Buffer.alloc(4)
    head.writeUInt32BE(id)
    this.socket.write(controlFrame(frameType.headers, Buffer.concat([head, this.#writer.write(new Map(Object.entries(headers)))]), flags))
  }

  send(id: number, text: string): void {
    this.socket.write(dataFrame(id, Buffer.from(text)))
  }

  end(id: number): void {
    this.socket.write(dataFrame(id, Buffer.alloc(0), finFlag))
  }

  /**
   * Waits until `events` contains `event`.
   *
   * @param event the text of a control frame that the server sends, such as `reset 1 3`; or `closed`, when the socket is closed.
   */
  async until(event: string): Promise<void> {
    await until(event, () => this.events.includes(event))
  }
}
