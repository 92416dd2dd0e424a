/** Reads the SPDY/3.1 frames of a client, and encodes the server's frames (SPDY Protocol Draft 3.1, section 2.2). */
import { ByteReader } from './byte-reader.ts'
import { ProtocolError } from './protocol-error.ts'

const version = 3

/** The types of control frames. */
export const frameType = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const

/** The flag of the last frame of a stream. */
export const finFlag = 1
/** The flag of a SYN_STREAM frame whose receiver must not send data. */
export const unidirectionalFlag = 2

/** The status codes of RST_STREAM frames. */
export const resetStatus = { protocolError: 1, refusedStream: 3, cancel: 5 } as const

/** The status codes of GOAWAY frames. */
export const goAwayStatus = { ok: 0, protocolError: 1 } as const

/**
 * Maximum size of the payload of a control frame in bytes. The clients of Kubernetes send less than 200 bytes. The limit is necessary,
 * because the payload is stored in memory.
 */
const maxControlBytes = 16 * 1024

export interface ControlFrame {
  readonly type: number
  readonly flags: number
  readonly payload: Buffer
}

/** A part of a DATA frame. A DATA frame has no size limit, because only one part at a time is stored in memory. */
export interface DataPart {
  readonly streamId: number
  readonly bytes: Buffer
  /** True for the last part of the last frame of the stream. */
  readonly isLast: boolean
}

/**
 * Yields the frames of a connection until the connection ends.
 *
 * @throws {ProtocolError} when a control frame is too large, or when its version is not SPDY/3.
 */
export async function* readFrames(source: AsyncIterable<Buffer>): AsyncGenerator<ControlFrame | DataPart, void, undefined> {
  const reader = new ByteReader(source)
  for (;;) {
    const head = await reader.exactly(8)
    if (head === undefined) return
    const flags = head[4]!
    const length = head.readUIntBE(5, 3)
    if (head[0]! < 0x80) {
      yield* dataParts(reader, head.readUInt32BE(), length, (flags & finFlag) !== 0)
      continue
    }
    if ((head.readUInt16BE() & 0x7fff) !== version) throw new ProtocolError('a frame of another version than SPDY/3')
    if (length > maxControlBytes) throw new ProtocolError(`a control frame of ${length} bytes; the maximum is ${maxControlBytes}`)
    const payload = await reader.exactly(length)
    if (payload === undefined) return
    yield { type: head.readUInt16BE(2), flags, payload }
  }
}

async function* dataParts(reader: ByteReader, streamId: number, length: number, isLastFrame: boolean): AsyncGenerator<DataPart> {
  if (length === 0) yield { streamId, bytes: Buffer.alloc(0), isLast: isLastFrame }
  for (let left = length; left > 0;) {
    const bytes = await reader.upTo(left)
    if (bytes === undefined) return
    left -= bytes.length
    yield { streamId, bytes, isLast: isLastFrame && left === 0 }
  }
}

/** Reads a 32-bit number of a payload. @throws {ProtocolError} when the payload is too short. */
export function numberAt(payload: Buffer, offset: number): number {
  if (payload.length < offset + 4) throw new ProtocolError('a control frame is too short')
  return payload.readUInt32BE(offset)
}

/** The mask for stream ids and window sizes. The highest bit of these numbers is reserved. */
const lower31 = 0x7fff_ffff

export function idAt(payload: Buffer, offset: number): number {
  return numberAt(payload, offset) & lower31
}

export function controlFrame(type: number, payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head[4] = flags
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

/** Returns a control frame whose payload consists of 32-bit numbers. */
export function numbersFrame(type: number, ...numbers: readonly number[]): Buffer {
  const payload = Buffer.alloc(4 * numbers.length)
  for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number, 4 * index)
  return controlFrame(type, payload)
}

/** Returns a DATA frame. `bytes` must not be longer than 2^24 - 1 bytes, because the length field of a frame has 24 bits. */
export function dataFrame(streamId: number, bytes: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(streamId, 0)
  head[4] = flags
  head.writeUIntBE(bytes.length, 5, 3)
  return Buffer.concat([head, bytes])
}
