/**
 * The format of container logs (k8s.io/cri-client/pkg/logs: parseCRILog). Each line of a file is an entry: a time, a stream, a tag and
 * text. The tag is F when the entry ends a line of output, and P when the line of output continues in the next entry of the same stream.
 */
import type { Clock } from '../../../runtime/clock.ts'

export type LogStreamName = 'stdout' | 'stderr'

/** The longest text of an entry, in bytes (github.com/containerd/containerd: defaultMaxContainerLogLineSize). A longer line is divided. */
export const maxEntryBytes = 16 * 1024
/** An upper limit for the total length of the time, the stream, the tag, three spaces and the line break, in bytes. */
const maxFrameBytes = 64
const newline = 0x0a
const space = 0x20
const partial = 0x50
const tagSeparator = 0x3a

/** Encodes the output of one stream of a container. */
export class CriEncoder {
  readonly #stream: LogStreamName
  readonly #clock: Clock
  /** The beginning of a line that the container has not completed yet. */
  #rest: Buffer = Buffer.alloc(0)
  readonly #output: Buffer
  #length = 0
  #now = Number.NaN
  #prefix = ''

  /**
   * `encode` yields a batch as soon as the entries of the batch together have at least `batchBytes` bytes. At the end of the chunk,
   * `encode` yields the remaining entries.
   */
  constructor(stream: LogStreamName, clock: Clock, batchBytes: number) {
    this.#stream = stream
    this.#clock = clock
    this.#output = Buffer.allocUnsafe(batchBytes + maxEntryBytes + maxFrameBytes)
  }

  /**
   * Yields batches of entries. Each line whose line break is in `chunk` becomes an entry. If a line is too long for a single entry, each
   * part of the line becomes an entry. The next batch overwrites the memory of the previous batch.
   */
  *encode(chunk: Buffer): Generator<Buffer> {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(newline, from)
      const until = end === -1 ? chunk.length : end
      while (this.#rest.length + until - from > maxEntryBytes) {
        const next = from + maxEntryBytes - this.#rest.length
        this.#add('P', chunk.subarray(from, next))
        from = next
        if (this.#isFull) yield this.#take()
      }
      if (end === -1) break
      this.#add('F', chunk.subarray(from, end))
      from = end + 1
      if (this.#isFull) yield this.#take()
    }
    // The rest is copied, so that the memory of a large chunk can be freed.
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(from)])
    if (this.#length > 0) yield this.#take()
  }

  /**
   * Must be called when the stream has ended. If the last line of the output has no line break, returns an entry for this line. The tag of
   * the entry is P, as in containerd. If every line has a line break, returns an empty buffer.
   */
  end(): Buffer {
    if (this.#rest.length > 0) this.#add('P', Buffer.alloc(0))
    return this.#take()
  }

  get #isFull(): boolean {
    return this.#length >= this.#output.length - maxEntryBytes - maxFrameBytes
  }

  #take(): Buffer {
    const batch = this.#output.subarray(0, this.#length)
    this.#length = 0
    return batch
  }

  #add(tag: 'F' | 'P', text: Buffer): void {
    const now = this.#clock.now()
    if (now !== this.#now) {
      this.#now = now
      this.#prefix = `${new Date(now).toISOString().slice(0, -1)}000000Z ${this.#stream} `
    }
    this.#length += this.#output.write(`${this.#prefix}${tag} `, this.#length, 'latin1')
    this.#length += this.#rest.copy(this.#output, this.#length)
    this.#length += text.copy(this.#output, this.#length)
    this.#output[this.#length] = newline
    this.#length += 1
    if (this.#rest.length > 0) this.#rest = Buffer.alloc(0)
  }
}

/** An entry of a log. */
export interface LogEntry {
  /** The time as it is written in the file. */
  readonly time: string
  readonly stream: LogStreamName
  /** The text, with a line break if the entry ends a line of output. */
  readonly text: Buffer
}

/** Parses a line of a log file. `line` includes the line break. Returns undefined if the line is not an entry. */
export function parseEntry(line: Buffer): LogEntry | undefined {
  const timeEnd = line.indexOf(space)
  const streamEnd = line.indexOf(space, timeEnd + 1)
  const tagEnd = line.indexOf(space, streamEnd + 1)
  if (timeEnd === -1 || streamEnd === -1 || tagEnd === -1) return undefined
  const stream = line.toString('latin1', timeEnd + 1, streamEnd)
  if (stream !== 'stdout' && stream !== 'stderr') return undefined
  // The first tag decides whether the entry is partial. A colon and further tags can follow the first tag.
  const isPartial = line[streamEnd + 1] === partial && (tagEnd === streamEnd + 2 || line[streamEnd + 2] === tagSeparator)
  return { time: line.toString('latin1', 0, timeEnd), stream, text: line.subarray(tagEnd + 1, isPartial ? line.length - 1 : line.length) }
}
