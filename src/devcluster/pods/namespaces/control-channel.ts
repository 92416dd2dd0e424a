/**
 * `ControlChannel`: the channel between Proreus and a script that starts a process. Proreus sends lists of strings to the script, for
 * example the command of the process and its arguments. The script sends a report about the started process, or error messages, to Proreus.
 */
import type { Duplex } from 'node:stream'
import { readLines } from './report-lines.ts'

/** The report of a script about the process that it has started. */
export interface StartReport {
  /**
   * The process id that the outer process has in the PID namespace of Proreus. The outer process is the process that waits for the first
   * process of the container. If the script has started a later process in the container, for example for `kubectl exec`, the field is
   * absent.
   */
  readonly outerPid?: number
  /** The process id in the PID namespace of the Pod. */
  readonly podPid: number
  /** The path of the terminal. Absent for a process without a terminal. */
  readonly terminal?: string
}

/** When the text of the errors has this number of characters, further lines are dropped. */
const maxErrorLength = 4096

export class ControlChannel {
  readonly #stream: Duplex
  readonly #fields = new Map<string, string>()
  readonly #settled = Promise.withResolvers<StartReport | string>()
  #errors = ''
  /**
   * Resolves with the report when the script is ready to run the program. If the channel is closed before the report arrives, resolves with
   * the error messages of the script. This text is empty if the script has sent no error message.
   */
  readonly started: Promise<StartReport | string>

  constructor(stream: Duplex) {
    this.#stream = stream
    stream.on('error', () => undefined)
    this.started = this.#settled.promise
    void readLines(stream, (line) => this.#receive(line)).then(() => this.#settled.resolve(this.#errors.trim()))
  }

  /** Sends a list in the format that `readList` of process-scripts.ts reads. */
  send(values: readonly string[]): void {
    const lines = values.map((value) => `+${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`)
    this.#stream.write(`${lines.join('')}=\n`)
  }

  /**
   * Tells the script to run the program, and closes the channel. The script has sent its report, and waits for this message. Proreus must
   * close the channel itself: a parent process of the script, such as script(1), can keep its end of the channel open while the program
   * runs.
   */
  proceed(): void {
    this.#stream.end('\n', () => this.#stream.destroy())
  }

  /** Closes the channel. If the script still waits for a list, or for `proceed`, the script ends. */
  close(): void {
    this.#stream.destroy()
    this.#settled.resolve(this.#errors.trim())
  }

  #receive(line: string): void {
    const [, field = '', value = ''] = /^(container|terminal|started) (.*)$/.exec(line) ?? []
    if (field === 'started') this.#settled.resolve(this.#report(value.split(/\s+/).map(Number)))
    else if (field !== '') this.#fields.set(field, value)
    else if (this.#errors.length < maxErrorLength) this.#errors += `${line}\n`
  }

  /**
   * @param pids the ids of the process in all PID namespaces. The last two ids are those in the Pod and in the container, in this order.
   */
  #report(pids: readonly number[]): StartReport {
    const [outerPid, terminal] = [this.#fields.get('container'), this.#fields.get('terminal')]
    return {
      podPid: pids.at(-2) ?? 0,
      ...(outerPid !== undefined && { outerPid: Number(outerPid) }),
      ...(terminal !== undefined && { terminal }),
    }
  }
}
