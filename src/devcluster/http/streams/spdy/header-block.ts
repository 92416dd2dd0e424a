/**
 * Compresses and decompresses header blocks (SPDY Protocol Draft 3.1, section 2.6.10). All header blocks of one direction of a connection
 * are one zlib stream.
 */
import { constants, createInflate, deflateRawSync, deflateSync } from 'node:zlib'
import { messageOf } from '../../../../api/errors.ts'
import { dictionary, withLength } from './dictionary.ts'
import { ProtocolError } from './protocol-error.ts'

/** Headers, keyed by their names in lower case. */
export type Headers = ReadonlyMap<string, string>

/**
 * Maximum size of a decompressed header block in bytes. The clients of Kubernetes send less than 200 bytes. The limit is necessary, because
 * compressed bytes can expand to a thousand times their size.
 */
const maxBlockBytes = 16 * 1024

/** Decompresses the header blocks of a client. The blocks must be read in the order in which the client has sent them. */
export class HeaderReader {
  readonly #inflate = createInflate({ dictionary, flush: constants.Z_SYNC_FLUSH })
  #parts: Buffer[] = []
  #length = 0

  constructor() {
    this.#inflate.on('data', (part: Buffer) => {
      this.#parts.push(part)
      this.#length += part.length
      if (this.#length > maxBlockBytes) this.#inflate.destroy(new Error(`headers of more than ${maxBlockBytes} bytes`))
    })
    // The caller of `read` gets the error. Without this listener, the error would end the process.
    this.#inflate.on('error', () => undefined)
  }

  /**
   * Returns the headers of `block`. The caller must wait for the result before the next call.
   *
   * @throws {ProtocolError} for a block that is malformed or too large.
   */
  async read(block: Buffer): Promise<Headers> {
    this.#parts = []
    this.#length = 0
    await new Promise<void>((resolve) => {
      this.#inflate.once('close', resolve)
      this.#inflate.write(block, () => {
        this.#inflate.off('close', resolve)
        resolve()
      })
    })
    const { destroyed, errored } = this.#inflate
    if (destroyed) throw new ProtocolError(`invalid compressed headers: ${messageOf(errored)}`, { cause: errored })
    return parsed(Buffer.concat(this.#parts))
  }

  close(): void {
    this.#inflate.destroy()
  }
}

function parsed(block: Buffer): Headers {
  let at = 0
  const next = (length: number): Buffer => {
    if (at + length > block.length) throw new ProtocolError('a header block ends too early')
    at += length
    return block.subarray(at - length, at)
  }
  const text = (): string => next(next(4).readUInt32BE()).toString()
  const headers = new Map<string, string>()
  for (let left = next(4).readUInt32BE(); left > 0; left -= 1) {
    const name = text().toLowerCase()
    headers.set(name, text())
  }
  return headers
}

/** Compresses header blocks, in the order in which they are sent. */
export class HeaderWriter {
  #isFirst = true

  /** Returns the compressed block. No block refers to earlier blocks. Only the first block has a zlib header. */
  write(headers: Headers): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(headers.size)
    const block = Buffer.concat([count, ...[...headers].flatMap(([name, value]) => [withLength(name.toLowerCase()), withLength(value)])])
    const flush = { finishFlush: constants.Z_SYNC_FLUSH }
    const bytes = this.#isFirst ? deflateSync(block, { dictionary, ...flush }) : deflateRawSync(block, flush)
    this.#isFirst = false
    return bytes
  }
}
