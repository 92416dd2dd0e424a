/** `AgentChild`: starts the process of the agent (network-agent-process.ts), and exchanges messages with this process. */
import type { ChildProcessByStdio, StdioOptions } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../../../runtime/clock.ts'
import { timedOut, within } from '../../../../runtime/waiting.ts'
import { programEnvironment } from '../../namespaces/programs.ts'
import type { AgentMessage, ParentMessage, StartMessage } from './messages.ts'

/**
 * Receives each message that an agent sends, except the messages `ready` and `failed`. `socket` is the socket that the message carries. If
 * the message carries no socket, or if the connection was closed before the message arrived, `socket` is undefined.
 */
export type ReceiveMessage = (
  message: Exclude<AgentMessage, { readonly type: 'ready' | 'failed' }>,
  socket: Socket | undefined,
  agent: AgentChild,
) => void

/** An error contains at most this number of characters from the end of the process's output. */
const maxOutput = 2000

/** Time in milliseconds after which `stop` kills a process that has not ended. A process that does not hang ends much earlier. */
const killAfterMs = 2000

/** The error for an agent that did not start. */
export class AgentStartError extends Error {}

export class AgentChild {
  readonly #child: ChildProcessByStdio<null, null, Readable>
  #output = ''
  /** Resolves when the agent listens. Rejects with an AgentStartError when the agent fails or ends before it listens. */
  readonly ready: Promise<void>
  /** Resolves when the process has ended. The value is the reason, as text. */
  readonly ended: Promise<string>

  /** @param enterNetwork the command that starts a program in the cluster's network namespace. The program is appended to the command. */
  constructor(enterNetwork: readonly string[], start: StartMessage, receive: ReceiveMessage) {
    const ready = Promise.withResolvers<void>()
    this.ready = ready.promise
    const script = fileURLToPath(new URL(`./network-agent-process${extname(import.meta.url)}`, import.meta.url))
    const [program = process.execPath, ...args] = [...enterNetwork, process.execPath, ...process.execArgv, script]
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc']
    // The process gets a separate session, so it does not receive the signals of the terminal in which Proreus runs.
    const env = { ...process.env, PATH: programEnvironment.PATH }
    this.#child = spawn(program, args, { stdio, env, detached: true }) as ChildProcessByStdio<null, null, Readable>
    const outputEnded = this.#readOutput()
    this.#child.on('message', (message: AgentMessage, socket: unknown) => {
      if (message.type === 'ready') ready.resolve()
      else if (message.type === 'failed') ready.reject(new AgentStartError(message.reason))
      else receive(message, socket as Socket | undefined, this)
    })
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message))
      // After `disconnect`, Node.js does not emit `close`, so this code waits for `exit`.
      this.#child.on('exit', (code, signal) => void outputEnded.then(() => resolve(this.#reason(signal ?? `exit code ${code}`))))
    })
    void this.ended.then((reason) => ready.reject(new AgentStartError(reason)))
    this.send(start)
  }

  /** Resolves when the process has closed its output. */
  async #readOutput(): Promise<void> {
    // If the process could not be started because too many files are open, the child has no streams.
    if (this.#child.pid === undefined) return
    const { stderr } = this.#child
    stderr.on('error', () => undefined)
    stderr.setEncoding('utf8').on('data', (text: string) => (this.#output = (this.#output + text).slice(-maxOutput)))
    await new Promise((resolve) => stderr.once('close', resolve))
  }

  /** Sends a message. Does nothing when the process has ended. */
  send(message: ParentMessage): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Ends the process. Resolves when the process has ended. */
  async stop(clock: Clock): Promise<void> {
    // The agent ends when the channel is closed. It has no work to finish before it ends.
    if (this.#child.connected) this.#child.disconnect()
    if ((await within(clock, killAfterMs, this.ended, { keepAlive: true })) === timedOut) this.#child.kill('SIGKILL')
    await this.ended
  }

  #reason(how: string): string {
    const output = this.#output.trim()
    return output === '' ? how : `${how}: ${output}`
  }
}
