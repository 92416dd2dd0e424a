/** `ContainerLog`: the log of one run of a container, in files of a limited size. */
import type { FileHandle } from 'node:fs/promises'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '../../../runtime/clock.ts'
import { systemClock } from '../../../runtime/clock.ts'
import type { LogStreamName } from './cri-format.ts'
import { CriEncoder } from './cri-format.ts'

/** The defaults of the kubelet (k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1: ContainerLogMaxSize, ContainerLogMaxFiles). */
const defaultMaxBytes = 10 * 1024 * 1024
const defaultMaxFiles = 5
/**
 * The entries of a chunk of output are written in batches. A batch has about this number of bytes. Each stream needs memory for one chunk
 * and one batch.
 */
const batchBytes = 64 * 1024

export interface LogLimits {
  /** If a batch would make a file larger than this number of bytes, the batch begins a new file. Default: 10 MiB. */
  readonly maxBytes?: number
  /** The maximum number of files that are kept for a run. Default: 5. */
  readonly maxFiles?: number
}

export interface ContainerLogOptions extends LogLimits {
  /** The folder of the files. The folder must exist. */
  readonly folder: string
  /** The number of the run: the restart count of the container. */
  readonly run: number
  /** The numbers of the first and the last file of a run that has ended. Absent for a new run, which has no files yet. */
  readonly files?: { readonly first: number; readonly last: number }
  /**
   * Called when output could not be read or written, or a file could not be closed. If several consecutive writes fail, the function is
   * called only for the first of them. Output that could not be written is lost, and the container continues to run.
   */
  readonly onProblem?: (error: Error) => void
  readonly clock?: Clock
}

/** The state of a log at one moment. */
export interface LogState {
  /** The numbers of the oldest and of the newest file. */
  readonly first: number
  readonly last: number
  /** The size of the newest file, in bytes; undefined for a run that ended before Proreus started. */
  readonly size: number | undefined
  /** True when no more output will be added to the log. */
  readonly isEnded: boolean
  /** A number that increases with each change of the log. */
  readonly version: number
}

/** Returns the name of a log file. The name contains the number of the run, and the number of the file within this run. */
export function logFileName(run: number, file: number): string {
  return `${run}.${file}.log`
}

/** Parses the name of a log file. Returns undefined for any other name. */
export function parseLogFileName(name: string): { readonly run: number; readonly file: number } | undefined {
  const [, run, file] = /^(\d{1,9})\.(\d{1,9})\.log$/.exec(name) ?? []
  return run === undefined || file === undefined ? undefined : { run: Number(run), file: Number(file) }
}

export class ContainerLog {
  readonly #options: ContainerLogOptions
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #maxFiles: number
  #first: number
  #last: number
  #size: number | undefined
  #isEnded: boolean
  #version = 0
  #isFailing = false
  #handle: FileHandle | undefined
  /** The latest write. Each write waits for the previous write. */
  #writes: Promise<void> = Promise.resolve()
  readonly #waiting = new Set<() => void>()

  constructor(options: ContainerLogOptions) {
    const { files, maxBytes = defaultMaxBytes, maxFiles = defaultMaxFiles, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#maxBytes = maxBytes
    this.#maxFiles = maxFiles
    this.#first = files?.first ?? 1
    this.#last = files?.last ?? 1
    this.#size = files === undefined ? 0 : undefined
    this.#isEnded = files !== undefined
  }

  get run(): number {
    return this.#options.run
  }

  get state(): LogState {
    return { first: this.#first, last: this.#last, size: this.#size, isEnded: this.#isEnded, version: this.#version }
  }

  /** Returns the path of a file. */
  path(file: number): string {
    return join(this.#options.folder, logFileName(this.run, file))
  }

  /**
   * Writes the output of a container to the log. This method must be called exactly once. The streams are read only as fast as the disk can
   * write. When the streams have ended and all output is written, the log ends and the promise resolves. The promise never rejects. Output
   * that cannot be written is dropped, and `onProblem` is called.
   */
  async capture(stdout: Readable, stderr?: Readable): Promise<void> {
    const streams = stderr === undefined ? [this.#read('stdout', stdout)] : [this.#read('stdout', stdout), this.#read('stderr', stderr)]
    await Promise.all(streams)
    await this.#close()
    this.#isEnded = true
    this.#changed()
  }

  /** Resolves when the version of the log differs from `version`, or when the signal aborts. */
  changedSince(version: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      if (version !== this.#version || signal.aborted) resolve()
      else {
        this.#waiting.add(wake)
        signal.addEventListener('abort', wake)
      }
    })
  }

  async #read(name: LogStreamName, stream: Readable): Promise<void> {
    const encoder = new CriEncoder(name, this.#clock, Math.min(batchBytes, this.#maxBytes))
    try {
      for await (const chunk of stream as AsyncIterable<Buffer | string>) {
        for (const batch of encoder.encode(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)) await this.#write(batch)
      }
    } catch (error) {
      // If the stream is destroyed before its end, the loop fails with this error. The output of a container may end in this way, so the
      // error is not reported.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') this.#report(`the ${name} of the container broke`, error)
    }
    await this.#write(encoder.end())
  }

  #write(batch: Buffer): Promise<void> {
    this.#writes = this.#writes.then(() => this.#append(batch))
    return this.#writes
  }

  async #append(batch: Buffer): Promise<void> {
    if (batch.length === 0) return
    const size = this.#size ?? 0
    try {
      if (size > 0 && size + batch.length > this.#maxBytes) await this.#rotate()
      this.#handle ??= await open(this.path(this.#last), 'a')
      await this.#handle.appendFile(batch)
      this.#size = (this.#size ?? 0) + batch.length
      this.#isFailing = false
      this.#changed()
    } catch (error) {
      if (!this.#isFailing) this.#report(`cannot write ${this.path(this.#last)}`, error)
      this.#isFailing = true
      // If only a part of the batch was written, this part is removed. The next entry then begins at the start of a line.
      await this.#handle?.truncate(this.#size ?? 0).catch(() => {})
    }
  }

  /** Begins a new file. Removes the oldest files if there are more than `maxFiles`. */
  async #rotate(): Promise<void> {
    await this.#close()
    this.#last += 1
    this.#size = 0
    for (; this.#last - this.#first >= this.#maxFiles; this.#first += 1) await rm(this.path(this.#first), { force: true })
  }

  async #close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close().catch((error: unknown) => this.#report('cannot close the log', error))
  }

  #changed(): void {
    this.#version += 1
    for (const wake of [...this.#waiting]) wake()
  }

  #report(text: string, cause: unknown): void {
    this.#options.onProblem?.(new Error(`${text}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }))
  }
}
