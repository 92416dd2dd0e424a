/** Decodes protobuf's wire format, with the error messages of Kubernetes' generated Go code. */

/** Thrown for invalid protobuf, with the message of Go's decoder. */
export class ProtobufError extends Error {}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const

export interface Tag {
  readonly number: number
  readonly wireType: number
}

export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** Reads a varint as an unsigned 64-bit integer. */
  varint(): bigint {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 0x80) {
      this.#at += 1
      return BigInt(first)
    }
    let value = 0n
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined) throw unexpectedEnd()
      this.#at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new ProtobufError('proto: integer overflow')
  }

  /**
   * Reads the tag of the next field. `message` is the Go name of the message. If `message` is set, throws when the field number is invalid
   * or when the tag ends a group.
   */
  tag(message?: string): Tag {
    const wire = this.varint()
    const number = Number(BigInt.asIntN(32, wire >> 3n))
    const wireType = Number(wire & 7n)
    if (message !== undefined) {
      if (wireType === wireTypes.endGroup) throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`)
      if (number <= 0) throw new ProtobufError(`proto: ${message}: illegal tag ${number} (wire type ${wire})`)
    }
    return { number, wireType }
  }

  /** Reads a length-delimited value. */
  bytes(): Buffer {
    const length = BigInt.asIntN(64, this.varint())
    if (length < 0n) throw new ProtobufError('proto: negative length found during unmarshaling')
    if (length > BigInt(this.#bytes.length - this.#at)) throw unexpectedEnd()
    return this.#take(Number(length))
  }

  double(): number {
    return this.#take(8).readDoubleLE()
  }

  /** Skips the value of the field whose tag was just read. A group is skipped with its content. */
  skip(wireType: number): void {
    let depth = 0
    for (let type = wireType; ; type = this.tag().wireType) {
      switch (type) {
        case wireTypes.varint:
          this.varint()
          break
        case wireTypes.fixed64:
          this.#take(8)
          break
        case wireTypes.bytes:
          this.bytes()
          break
        case wireTypes.startGroup:
          depth += 1
          break
        case wireTypes.endGroup:
          if (depth === 0) throw new ProtobufError('proto: unexpected end of group')
          depth -= 1
          break
        case wireTypes.fixed32:
          this.#take(4)
          break
        default:
          throw new ProtobufError(`proto: illegal wireType ${type}`)
      }
      if (depth === 0) return
    }
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw unexpectedEnd()
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}

function unexpectedEnd(): ProtobufError {
  return new ProtobufError('unexpected EOF')
}
