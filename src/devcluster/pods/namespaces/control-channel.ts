/** `ControlChannel`: Proreus' end of the channel to a script that starts a process. It sends lists, and receives reports and errors. */
import type { Duplex } from 'node:stream'
import { readLines } from './report-lines.ts'

/** The report of a script about its process. */
export interface StartReport {
  /**
   * The id of the process that waits for the first process of a container. It is an id in the PID namespace of Proreus. Absent when the
   * script did not start the first process of a container.
   */
  readonly outerPid?: number
  /** The process id in the PID namespace of the Pod. */
  readonly podPid: number
  /** The path of the terminal. Absent for a process without one. */
  readonly terminal?: string
}

/** When the kept text of errors has this length, later lines are dropped. */
const maxErrorLength = 4096

export class ControlChannel {
  readonly #stream: Duplex
  readonly #fields = new Map<string, string>()
  readonly #settled = Promise.withResolvers<StartReport | string>()
  #errors = ''
  /** Resolves with the report when the process runs. Resolves with the text of errors when the process could not be started. */
  readonly started: Promise<StartReport | string>

  constructor(stream: Duplex) {
    this.#stream = stream
    stream.on('error', () => undefined)
    this.started = this.#settled.promise
    void readLines(stream, (line) => this.#receive(line)).then(() => this.#settled.resolve(this.#errors.trim()))
  }

  /** Sends a list. */
  send(values: readonly string[]): void {
    const lines = values.map((value) => `+${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`)
    this.#stream.write(`${lines.join('')}=\n`)
  }

  /** Ends the channel without the rest of the lists. A script that waits for them ends. */
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

  /** @param pids the ids of the process in all PID namespaces. The last id is the container's, and the one before it is the Pod's. */
  #report(pids: readonly number[]): StartReport {
    const [outerPid, terminal] = [this.#fields.get('container'), this.#fields.get('terminal')]
    return {
      podPid: pids.at(-2) ?? 0,
      ...(outerPid !== undefined && { outerPid: Number(outerPid) }),
      ...(terminal !== undefined && { terminal }),
    }
  }
}
