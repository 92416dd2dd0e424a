/** `runCommand`: runs a command in a container, and collects the beginning of its output. */
import type { Readable } from 'node:stream'
import type { Clock } from '../../../runtime/clock.ts'
import { untilAborted, within } from '../../../runtime/waiting.ts'
import type { ExecProcess } from '../driver.ts'
import type { ProbeTarget } from './probe-target.ts'

export interface CommandResult {
  readonly exitCode: number
  /** The text of stdout, followed by the text of stderr. At most 10 KiB. */
  readonly output: string
  /** The text of stderr. At most 10 KiB. */
  readonly errorOutput: string
}

export interface CommandOptions {
  readonly clock: Clock
  /** Kills the command. The run then rejects with the reason of the signal. */
  readonly signal: AbortSignal
}

/** The maximum number of bytes of the output that are kept (k8s.io/kubernetes/pkg/probe/exec: maxReadLength). */
const maxOutputBytes = 10 * 1024
/**
 * The longest time in milliseconds to wait for the rest of the output after the command has ended. Background processes of the command can
 * keep the streams open for longer.
 */
const drainMs = 200

/** Runs a command to its end. If the command could not be started, rejects with the error of `target.execute`. */
export async function runCommand(command: readonly string[], target: ProbeTarget, options: CommandOptions): Promise<CommandResult> {
  const { clock, signal } = options
  signal.throwIfAborted()
  const process = await untilAborted(target.execute(command), signal, discard)
  const { stdin, stdout, stderr } = process
  stdin?.on('error', ignore).destroy()
  const collected = new CollectedOutput(stdout)
  const collectedErrors = stderr === undefined ? undefined : new CollectedOutput(stderr)
  try {
    const exitCode = await untilAborted(process.exited, signal, ignore)
    const ended = Promise.all([collected.ended, collectedErrors?.ended])
    await untilAborted(within(clock, drainMs, ended), signal, ignore)
    const errorOutput = collectedErrors?.bytes() ?? Buffer.alloc(0)
    const output = Buffer.concat([collected.bytes(), errorOutput]).subarray(0, maxOutputBytes)
    return { exitCode, output: output.toString(), errorOutput: errorOutput.toString() }
  } catch (error) {
    process.kill()
    throw error
  }
}

/**
 * Collects the beginning of a stream, and reads and drops the rest. If the rest were not read, the full pipe would block the command. If
 * the pipe were closed, the background processes of the command would end.
 */
class CollectedOutput {
  /** Resolves when the stream has ended or failed. */
  readonly ended: Promise<void>
  readonly #chunks: Buffer[] = []
  #length = 0

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => {
      if (this.#length >= maxOutputBytes) return
      this.#chunks.push(chunk)
      this.#length += chunk.length
    })
    this.ended = new Promise((resolve) => {
      for (const event of ['end', 'error', 'close']) stream.on(event, () => resolve())
    })
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(0, maxOutputBytes)
  }
}

/** Kills a command whose start was completed only after the signal had aborted. */
function discard(process: ExecProcess): void {
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.on('error', ignore).destroy()
  process.kill()
}

function ignore(): void {
  // No caller waits for the result or the error any longer.
}
