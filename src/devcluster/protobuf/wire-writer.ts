/** Encodes protobuf's wire format. Zero values are left out, as in proto3. */
import { wireTypes } from './wire-reader.ts'

export class WireWriter {
  readonly #parts: Uint8Array[] = []

  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  string(field: number, value: string): void {
    if (value !== '') this.#lengthDelimited(field, Buffer.from(value))
  }

  bool(field: number, value: boolean): void {
    if (value) this.integer(field, 1)
  }

  /** Writes an integer as a varint. A negative integer is written as its 64-bit two's complement, which takes ten bytes. */
  integer(field: number, value: number): void {
    if (value === 0) return
    this.#tag(field, wireTypes.varint)
    this.#parts.push(varint(BigInt.asUintN(64, BigInt(value))))
  }

  double(field: number, value: number): void {
    if (value === 0) return
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    this.#tag(field, wireTypes.fixed64)
    this.#parts.push(bytes)
  }

  /** Writes an embedded message, even if the message is empty. */
  message(field: number, content: Buffer): void {
    this.#lengthDelimited(field, content)
  }

  #lengthDelimited(field: number, content: Buffer): void {
    this.#tag(field, wireTypes.bytes)
    this.#parts.push(varint(BigInt(content.length)), content)
  }

  #tag(field: number, wireType: number): void {
    this.#parts.push(varint(BigInt(field * 8 + wireType)))
  }
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.from([...bytes, Number(rest)])
}
