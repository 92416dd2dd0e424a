/** `HeldProgram`: a program that runs until its stdin is closed. Proreus closes the stdin; if Proreus dies, the kernel closes the stdin. */
import type { ChildProcess } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../../api/errors.ts'
import { ProgramError, startProgram } from './programs.ts'
import { readLines } from './report-lines.ts'

export class HeldProgram {
  readonly #program: string
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  readonly #problems: Promise<string>
  /** Called when a line has arrived, and when stdout has ended. */
  #wake = (): void => undefined
  #hasAllLines = false
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>

  /** @throws {ProgramError} when the program could not be started. */
  static async start(command: readonly string[]): Promise<HeldProgram> {
    return new HeldProgram(command[0] ?? '', await startProgram(command, ['pipe', 'pipe', 'pipe']))
  }

  private constructor(program: string, child: ChildProcess) {
    this.#program = program
    this.#child = child
    this.ended = new Promise((resolve) => child.on('exit', () => resolve()))
    const { stdin, stdout, stderr } = child
    stdin?.on('error', () => undefined)
    this.#problems = stderr === null ? Promise.resolve('') : text(stderr).catch(messageOf)
    const read = stdout === null ? Promise.resolve() : readLines(stdout, (line) => this.#add(line))
    void read.then(() => {
      this.#hasAllLines = true
      this.#wake()
    })
  }

  /** Resolves with the next line of stdout. @throws {ProgramError} when stdout has no more lines. The message is the text of stderr. */
  async nextLine(): Promise<string> {
    if (this.#lines.length === 0 && !this.#hasAllLines) await new Promise<void>((resolve) => (this.#wake = resolve))
    const line = this.#lines.shift()
    if (line !== undefined) return line
    await this.close()
    const problems = (await this.#problems).trim()
    throw new ProgramError(problems === '' ? `${this.#program} has failed` : problems)
  }

  /** Writes a line to stdin. */
  writeLine(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  /** Closes stdin. Resolves when the program has ended. */
  async close(): Promise<void> {
    this.#child.stdin?.end()
    await this.ended
  }

  #add(line: string): void {
    this.#lines.push(line)
    this.#wake()
  }
}
