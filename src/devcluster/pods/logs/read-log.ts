/** `readLog`: returns the log of a container as a stream of text (k8s.io/cri-client/pkg/logs: ReadLogs). */
import { Readable } from 'node:stream'
import type { LogOptions } from '../../rest/container-access.ts'
import type { ContainerLog } from './container-log.ts'
import type { LogEntry } from './cri-format.ts'
import { parseEntry } from './cri-format.ts'
import { logBlocks } from './log-blocks.ts'
import { endPosition, tailPosition } from './log-position.ts'

/** `previous` is omitted, because the caller chooses the run with `ContainerLogs.latest` or `ContainerLogs.previous`. */
export type ReadLogOptions = Omit<LogOptions, 'previous'>

const newline = 0x0a

/**
 * Returns the text of a log as a stream. The log is read only as fast as the client reads the stream.
 *
 * - Without `follow`, the stream contains only the text that was in the log when the reading began.
 * - With `follow`, the stream ends when the run has ended and all its output has been read.
 * - When the signal aborts, the stream is destroyed without an error.
 *
 * All files that have not been removed are read. The kubelet reads only the latest file.
 */
export function readLog(log: ContainerLog, options: ReadLogOptions, signal: AbortSignal): Readable {
  const controller = new AbortController()
  const chunks = formattedChunks(log, options, controller.signal)
  const abort = (): void => void stream.destroy()
  const stream = new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => void this.push(done === true ? null : value),
        (error: unknown) => void this.destroy(error as Error),
      )
    },
    destroy(error, callback) {
      signal.removeEventListener('abort', abort)
      // If the generator is waiting for further output, this abort ends the wait. The generator can then close the file.
      controller.abort()
      chunks.return(undefined).then(
        () => callback(error),
        (cause: unknown) => callback(error ?? (cause as Error)),
      )
    },
  })
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  return stream
}

/**
 * Resolves with the last `lines` lines of a log. If these lines have more than `bytes` bytes, resolves with their last `bytes` bytes
 * (k8s.io/kubernetes/pkg/kubelet/kuberuntime: readLastStringFromContainerLogs).
 */
export async function readLogEnd(log: ContainerLog, lines: number, bytes: number): Promise<string> {
  let end = Buffer.alloc(0)
  const options = { follow: false, timestamps: false, tailLines: lines }
  for await (const chunk of formattedChunks(log, options, new AbortController().signal)) {
    end = Buffer.concat([end, chunk])
    if (end.length > bytes) end = Buffer.from(end.subarray(end.length - bytes))
  }
  return end.toString()
}

async function* formattedChunks(log: ContainerLog, options: ReadLogOptions, signal: AbortSignal): AsyncGenerator<Buffer, undefined> {
  const now = await endPosition(log)
  const start = options.tailLines === undefined ? { file: log.state.first, offset: 0 } : await tailPosition(log, options.tailLines, now)
  const format = new EntryFormat(options)
  let rest: Buffer = Buffer.alloc(0)
  for await (const block of logBlocks(log, { start, ...(!options.follow && { end: now }), signal })) {
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block])
    const until = bytes.lastIndexOf(newline) + 1
    rest = bytes.subarray(until)
    const text = format.textOf(bytes.subarray(0, until))
    if (text.length > 0) yield text
    if (format.isDone) return
  }
}

/** Selects and formats the entries of a log (k8s.io/cri-client/pkg/logs: logWriter.write). */
class EntryFormat {
  readonly #options: ReadLogOptions
  readonly #stream: string | undefined
  #left: number
  /** True when the next entry begins a line of output. False when the next entry continues a line. */
  #isNewLine = true
  /** True after the first entry that is not older than `since`. The times only increase, so no later entry is older than `since`. */
  #isLateEnough: boolean

  constructor(options: ReadLogOptions) {
    this.#options = options
    this.#stream = options.stream?.toLowerCase()
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY
    this.#isLateEnough = options.since === undefined
  }

  /** True when `limitBytes` is reached. */
  get isDone(): boolean {
    return this.#left <= 0
  }

  /**
   * Returns the selected and formatted text of `lines`, which contains complete lines of a log file. A line that is not an entry is
   * omitted.
   */
  textOf(lines: Buffer): Buffer {
    const parts: Buffer[] = []
    for (let from = 0; from < lines.length && !this.isDone;) {
      const end = lines.indexOf(newline, from) + 1
      const entry = parseEntry(lines.subarray(from, end))
      from = end
      if (entry === undefined) continue
      for (const part of this.#partsOf(entry)) {
        const cut = part.length > this.#left ? part.subarray(0, this.#left) : part
        this.#left -= cut.length
        parts.push(cut)
      }
      this.#isNewLine = entry.text.length === 0 || entry.text.at(-1) === newline
    }
    return Buffer.concat(parts)
  }

  #partsOf({ time, stream, text }: LogEntry): readonly Buffer[] {
    const { since, timestamps } = this.#options
    this.#isLateEnough ||= Date.parse(time) >= since!
    if (!this.#isLateEnough || (this.#stream !== undefined && stream !== this.#stream)) return []
    return timestamps && this.#isNewLine ? [Buffer.from(`${time} `), text] : [text]
  }
}
