/**
 * `SpdyConnection`: the server's side of a SPDY/3.1 connection. Kubernetes clients open several streams over one connection. The server
 * opens no streams.
 */
import type { Duplex } from 'node:stream'
import { ReceivedBytes, SendWindows, connectionId } from './flow-control.ts'
import type { ControlFrame, DataPart } from './frames.ts'
import {
  controlFrame,
  dataFrame,
  finFlag,
  frameType,
  goAwayStatus,
  idAt,
  numberAt,
  numbersFrame,
  readFrames,
  resetStatus,
  unidirectionalFlag,
} from './frames.ts'
import { HeaderReader, HeaderWriter } from './header-block.ts'
import { ProtocolError } from './protocol-error.ts'
import type { FrameSender } from './stream.ts'
import { SpdyStream } from './stream.ts'

/** Maximum number of bytes in a DATA frame. With this limit, one stream cannot block the other streams of the connection for long. */
const maxDataBytes = 64 * 1024
const initialWindowSetting = 7
const noHeaders: ReadonlyMap<string, string> = new Map()

export interface SpdyOptions {
  /** Maximum number of open streams. The server refuses further streams. */
  readonly maxStreams: number
  /** Called for each stream that the client opens. Returns false to refuse the stream. */
  onStream(stream: SpdyStream): boolean
}

export class SpdyConnection implements FrameSender {
  readonly #socket: Duplex
  readonly #options: SpdyOptions
  readonly #streams = new Map<number, SpdyStream>()
  readonly #windows = new SendWindows()
  readonly #headerReader = new HeaderReader()
  readonly #headerWriter = new HeaderWriter()
  #lastStreamId = 0
  readonly #received = new ReceivedBytes()

  constructor(socket: Duplex, options: SpdyOptions) {
    this.#socket = socket
    this.#options = options
    // When the connection closes, `run` may be waiting until a stream is read. `#endStreams` ends this wait.
    socket.once('close', () => this.#endStreams())
  }

  /**
   * Reads frames until the connection ends.
   *
   * @throws {ProtocolError} after a frame that violates the protocol.
   */
  async run(): Promise<void> {
    try {
      for await (const frame of readFrames(this.#socket as AsyncIterable<Buffer>)) {
        if ('bytes' in frame) await this.#onData(frame)
        else await this.#onControl(frame)
        // Without this wait, a client that reads nothing could fill the memory with replies.
        if (this.#socket.writableNeedDrain) await drained(this.#socket)
      }
    } catch (error) {
      if (error instanceof ProtocolError) {
        this.#write(numbersFrame(frameType.goAway, this.#lastStreamId, goAwayStatus.protocolError))
        throw error
      }
      // Connections usually end with a destroyed socket, so the error of a destroyed socket is ignored.
      if (!this.#socket.destroyed) throw error
    } finally {
      this.#headerReader.close()
      this.#endStreams()
    }
  }

  /** Sends a PING frame. Calls `onFlushed` when the frame has been passed to the operating system. */
  ping(onFlushed: () => void): void {
    // In SPDY, the pings of a server have even ids. The client replies with the same id, and the server ignores the reply.
    this.#write(numbersFrame(frameType.ping, 2), onFlushed)
  }

  /** Sends a GOAWAY frame after all frames that have been written. Then ends the server's side of the connection. */
  close(): void {
    this.#write(numbersFrame(frameType.goAway, this.#lastStreamId, goAwayStatus.ok))
    this.#socket.end()
  }

  async sendData(streamId: number, bytes: Buffer): Promise<void> {
    for (let rest = bytes; rest.length > 0;) {
      const length = await this.#windows.take(streamId, Math.min(rest.length, maxDataBytes))
      if (length === 0) throw new Error('the stream is closed')
      await this.#send(dataFrame(streamId, rest.subarray(0, length)))
      rest = rest.subarray(length)
    }
  }

  async sendFin(streamId: number): Promise<void> {
    await this.#send(dataFrame(streamId, Buffer.alloc(0), finFlag))
  }

  closed(streamId: number, isComplete: boolean): void {
    this.#streams.delete(streamId)
    this.#windows.close(streamId)
    if (!isComplete) this.#reset(streamId, resetStatus.cancel)
  }

  #send(frame: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#socket.writable) throw new Error('the connection is closed')
      this.#socket.write(frame, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** Writes a frame. If the server has already ended its side of the connection, writes nothing. */
  #write(frame: Buffer, onFlushed?: () => void): void {
    if (this.#socket.writable) this.#socket.write(frame, onFlushed)
  }

  #reset(streamId: number, status: number): void {
    this.#write(numbersFrame(frameType.rstStream, streamId, status))
  }

  #endStreams(): void {
    this.#windows.end()
    for (const stream of this.#streams.values()) stream.receiveReset()
  }

  async #onData({ streamId, bytes, isLast }: DataPart): Promise<void> {
    const stream = this.#streams.get(streamId)
    await stream?.receive(bytes)
    this.#permit(connectionId, this.#received.add(bytes.length))
    if (stream === undefined || stream.destroyed) return
    if (isLast) stream.receiveEnd()
    else this.#permit(streamId, stream.received.add(bytes.length))
  }

  #permit(streamId: number, bytes: number): void {
    if (bytes > 0) this.#write(numbersFrame(frameType.windowUpdate, streamId, bytes))
  }

  async #onControl({ type, flags, payload }: ControlFrame): Promise<void> {
    switch (type) {
      case frameType.synStream:
        return this.#onSynStream(flags, payload)
      case frameType.headers:
        // The headers in this frame are not used. The header block must still be decompressed, because the decompression of the next header
        // block depends on this header block.
        await this.#headerReader.read(payload.subarray(4))
        if ((flags & finFlag) !== 0) this.#streams.get(idAt(payload, 0))?.receiveEnd()
        return
      case frameType.rstStream:
        this.#streams.get(idAt(payload, 0))?.receiveReset()
        return
      case frameType.ping:
        if (numberAt(payload, 0) % 2 === 1) this.#write(controlFrame(type, payload.subarray(0, 4)))
        return
      case frameType.windowUpdate:
        this.#windows.grow(idAt(payload, 0), idAt(payload, 4))
        return
      case frameType.settings:
        this.#onSettings(payload)
        return
      case frameType.synReply:
        throw new ProtocolError('a reply to a stream that the server has not opened')
      default:
      // GOAWAY needs no action, because the client closes the connection after the GOAWAY frame. Frames of unknown types are ignored.
    }
  }

  async #onSynStream(flags: number, payload: Buffer): Promise<void> {
    const streamId = idAt(payload, 0)
    const headers = await this.#headerReader.read(payload.subarray(10))
    if (streamId % 2 === 0 || streamId <= this.#lastStreamId) {
      this.#reset(streamId, resetStatus.protocolError)
      return
    }
    this.#lastStreamId = streamId
    const isRefused = this.#streams.size >= this.#options.maxStreams || (flags & unidirectionalFlag) !== 0
    const stream = new SpdyStream(streamId, headers, this)
    if (isRefused || !this.#options.onStream(stream)) {
      this.#reset(streamId, resetStatus.refusedStream)
      stream.receiveReset()
      return
    }
    this.#streams.set(streamId, stream)
    this.#windows.open(streamId)
    const id = Buffer.alloc(4)
    id.writeUInt32BE(streamId)
    this.#write(controlFrame(frameType.synReply, Buffer.concat([id, this.#headerWriter.write(noHeaders)])))
    if ((flags & finFlag) !== 0) stream.receiveEnd()
  }

  #onSettings(payload: Buffer): void {
    const count = numberAt(payload, 0)
    if (count * 8 > payload.length - 4) throw new ProtocolError('a SETTINGS frame is too short')
    for (let index = 0; index < count; index += 1) {
      const setting = numberAt(payload, 4 + 8 * index) & 0xff_ffff
      if (setting === initialWindowSetting) this.#windows.setInitial(numberAt(payload, 8 + 8 * index))
    }
  }
}

/** Resolves when the socket accepts further bytes, or has been closed. */
function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const onEvent = (): void => {
      socket.off('drain', onEvent)
      socket.off('close', onEvent)
      resolve()
    }
    socket.on('drain', onEvent)
    socket.on('close', onEvent)
  })
}
