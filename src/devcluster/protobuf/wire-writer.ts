/** Encodes protobuf's wire format. Zero values are omitted, as in proto3. */
import { wireTypes } from './wire-reader.ts'

/** The size of a new writer in bytes. When the writer is full, its size is doubled. */
const initialSize = 1024
/** The maximum length of a varint in bytes. */
const maxVarint = 10

export class WireWriter {
  #buffer = Buffer.allocUnsafe(initialSize)
  #length = 0

  /** Returns a copy of the bytes that were written. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length))
  }

  string(field: number, value: string): void {
    if (value === '') return
    const length = Buffer.byteLength(value)
    this.#tag(field, wireTypes.bytes)
    this.#varint(length)
    this.#reserve(length)
    this.#length += this.#buffer.write(value, this.#length)
  }

  bool(field: number, value: boolean): void {
    if (value) this.integer(field, 1)
  }

  /** Writes an integer as a varint. A negative integer is written as its 64-bit two's complement, which takes ten bytes. */
  integer(field: number, value: number): void {
    if (value === 0) return
    this.#tag(field, wireTypes.varint)
    if (value > 0 && Number.isSafeInteger(value)) this.#varint(value)
    else this.#largeVarint(BigInt.asUintN(64, BigInt(value)))
  }

  double(field: number, value: number): void {
    if (value === 0) return
    this.#tag(field, wireTypes.fixed64)
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  /** Writes an embedded message, even if the message is empty. `content` writes the fields of the message. */
  message(field: number, content: (writer: this) => void): void {
    this.#tag(field, wireTypes.bytes)
    const start = this.#length
    content(this)
    const length = this.#length - start
    // The length of the message precedes the message. The length is known only now, so the message is moved.
    const size = varintSize(length)
    this.#reserve(maxVarint)
    this.#buffer.copyWithin(start + size, start, start + length)
    this.#length = start
    this.#varint(length)
    this.#length += length
  }

  /** Writes bytes that are encoded already. */
  encoded(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType)
  }

  /**
   * Writes a safe integer as a varint. The function does not use `bigint`, because arithmetic with `bigint` would take several times as
   * long.
   */
  #varint(value: number): void {
    this.#reserve(maxVarint)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#length++] = (rest % 0x80) + 0x80
    this.#buffer[this.#length++] = rest
  }

  #largeVarint(value: bigint): void {
    this.#reserve(maxVarint)
    let rest = value
    for (; rest > 0x7fn; rest >>= 7n) this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80
    this.#buffer[this.#length++] = Number(rest)
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + length))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

/** Returns the length of a varint in bytes. */
function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1
  return size
}
