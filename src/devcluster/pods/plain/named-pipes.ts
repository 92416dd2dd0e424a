/**
 * `NamedPipes`: named pipes for the standard streams of a process. The pipes that Node.js creates are sockets, and a program cannot open a
 * socket by a path such as /dev/stdout.
 */
import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import type { PipePaths } from './messages.ts'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

/** The pipes of a process. The streams `stdin`, `stdout` and `stderr` are the ends that the driver uses. */
export class NamedPipes {
  readonly paths: PipePaths
  readonly stdin: Writable | undefined
  readonly stdout: Readable
  readonly stderr: Readable | undefined
  /**
   * The driver's descriptors of the pipe ends that are intended for the process. Each pipe has two ends: one for the driver, and one for
   * the process. The driver opens both ends. Until the driver closes the descriptors in this field, `stdout` and `stderr` cannot end.
   */
  readonly #others: readonly number[]

  /**
   * Creates the pipes. While a pipe is full, a process that writes to it waits.
   *
   * @param path the beginning of the path of each pipe; the name of the stream is appended, e.g. `.stdout`
   */
  static async open(path: string, { stdin, stderr }: { readonly stdin: boolean; readonly stderr: boolean }): Promise<NamedPipes> {
    const paths: PipePaths = {
      ...(stdin && { stdin: `${path}.stdin` }),
      stdout: `${path}.stdout`,
      ...(stderr && { stderr: `${path}.stderr` }),
    }
    const opened = new Set<number>()
    try {
      // With the mode 666, a process can open a path such as /dev/stdout even after the process has changed its uid.
      await promisify(execFile)('mkfifo', ['-m', '666', ...Object.values(paths)])
      return new NamedPipes(paths, opened)
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      removeFiles(paths)
      throw error
    }
  }

  /** @param opened each open descriptor is added to this set, so that the caller can close all of them after an error */
  private constructor(paths: PipePaths, opened: Set<number>) {
    const stdin = paths.stdin === undefined ? undefined : openEnds(paths.stdin, opened)
    const stdout = openEnds(paths.stdout, opened)
    const stderr = paths.stderr === undefined ? undefined : openEnds(paths.stderr, opened)
    this.paths = paths
    this.stdin = stdin && new Socket({ fd: stdin.writer, readable: false, writable: true })
    this.stdout = new Socket({ fd: stdout.reader, readable: true, writable: false })
    this.stderr = stderr && new Socket({ fd: stderr.reader, readable: true, writable: false })
    this.#others = [stdin?.reader, stdout.writer, stderr?.writer].filter((fd) => fd !== undefined)
    for (const stream of this.#streams) stream.on('error', () => undefined)
  }

  /**
   * Closes the descriptors in `#others`, and removes the files of the pipes. Each pipe has two ends: the driver uses one end, and the
   * process uses the other end. The driver opens both ends. `#others` contains the descriptors that the driver has opened for the ends of
   * the process. This method is called once, after the process has started or has failed to start.
   */
  closeOthers(): void {
    for (const fd of this.#others) closeSync(fd)
    removeFiles(this.paths)
  }

  destroy(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  get #streams(): readonly (Readable | Writable)[] {
    return [this.stdin, this.stdout, this.stderr].filter((stream) => stream !== undefined)
  }
}

/** Opens both ends of a pipe. With O_NONBLOCK, no call waits until the other end is open. */
function openEnds(file: string, opened: Set<number>): { readonly reader: number; readonly writer: number } {
  const open = (flags: number): number => {
    const fd = openSync(file, flags | O_NONBLOCK)
    opened.add(fd)
    return fd
  }
  return { reader: open(O_RDONLY), writer: open(O_WRONLY) }
}

function removeFiles(paths: PipePaths): void {
  for (const file of Object.values(paths)) rmSync(file, { force: true })
}

/**
 * Opens one end of a named pipe for the process of a container. The process reads from this end or writes to this end. The end is in
 * blocking mode, because most programs cannot use a nonblocking descriptor.
 *
 * @returns the file descriptor, or `ignore` when `file` is undefined
 */
export function openEndOfProcess(file: string | undefined, mode: 'read' | 'write'): number | 'ignore' {
  if (file === undefined) return 'ignore'
  // This descriptor is open for reading and writing, so both ends of the named pipe are open. Without this descriptor, the next `openSync`
  // would block until the driver opens the other end. If the driver had been killed, `openSync` would block forever.
  const both = openSync(file, O_RDWR | O_NONBLOCK)
  try {
    return openSync(file, mode === 'read' ? O_RDONLY : O_WRONLY)
  } finally {
    closeSync(both)
  }
}
