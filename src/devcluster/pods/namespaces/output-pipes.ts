/**
 * `OutputPipes`: stdout and stderr of a process as named pipes. The pipes of Node.js itself are sockets, and a program cannot open a socket
 * by a path such as /dev/stdout.
 */
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { runProgram } from './programs.ts'

export class OutputPipes {
  readonly stdout: Readable
  readonly stderr: Readable
  /** The ends to which the process writes. */
  readonly fds: readonly [stdout: number, stderr: number]

  /**
   * Opens the pipes. While a pipe is full, a process that writes to it waits.
   *
   * @param path the path of both named pipes without the suffixes `.stdout` and `.stderr`. The named pipes are removed from the file system
   *   as soon as they are open.
   */
  static async open(path: string): Promise<OutputPipes> {
    const [stdout, stderr] = [`${path}.stdout`, `${path}.stderr`]
    // With the mode 666, a process that runs with another uid can open its own stdout and stderr by a path such as /dev/stdout.
    await runProgram(['mkfifo', '-m', '666', stdout, stderr])
    const opened: number[] = []
    try {
      // Both pipes are opened for reading first. Without O_NONBLOCK, `openSync` would wait until the pipe is also open for writing.
      for (const flags of [constants.O_RDONLY | constants.O_NONBLOCK, constants.O_WRONLY])
        for (const file of [stdout, stderr]) opened.push(openSync(file, flags))
      return new OutputPipes(opened)
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    } finally {
      for (const file of [stdout, stderr]) rmSync(file, { force: true })
    }
  }

  private constructor([stdout = -1, stderr = -1, theirStdout = -1, theirStderr = -1]: readonly number[]) {
    this.stdout = new Socket({ fd: stdout, readable: true, writable: false })
    this.stderr = new Socket({ fd: stderr, readable: true, writable: false })
    this.fds = [theirStdout, theirStderr]
    for (const stream of [this.stdout, this.stderr]) stream.on('error', () => undefined)
  }

  /**
   * Closes the copies of `fds` that Proreus has. While these copies are open, the output cannot end. Must be called exactly once, after the
   * process has started or has failed to start.
   */
  closeTheirs(): void {
    for (const fd of this.fds) closeSync(fd)
  }

  /** Closes the ends from which Proreus reads. */
  destroy(): void {
    this.stdout.destroy()
    this.stderr.destroy()
  }
}
