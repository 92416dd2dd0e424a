/** The parent's side of the process that runs the operators of `proreus dev --watch`. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, within } from '../../runtime/waiting.ts'
import type { NextSteps } from '../dev-operators.ts'
import type { OperatorMessage, ReadyMessage, StartMessage, StopMessage } from './messages.ts'
import { isMessage } from './messages.ts'
import { siblingModule } from './sibling-module.ts'

/**
 * Time in milliseconds after which a process that does not end is killed. It is longer than a graceful end takes, which gives requests and
 * reconciles one second to finish, and one more to react to the abort of their signals.
 */
const killAfterMs = 3_000

export class OperatorsChild {
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Resolves when the operators run; to undefined when the process has ended before that. */
  readonly ready: Promise<NextSteps | undefined>
  /** Resolves when the process has ended, with the exit code or signal. */
  readonly ended: Promise<string>

  /** Starts the process. `onMessage` receives all its messages but `ready`. */
  constructor(start: StartMessage, clock: Clock, onMessage: (message: Exclude<OperatorMessage, ReadyMessage>) => void) {
    const ready = Promise.withResolvers<NextSteps | undefined>()
    this.ready = ready.promise
    this.#clock = clock
    const script = fileURLToPath(siblingModule('operators-process'))
    // The last pipe is never written to. It is closed when this process ends, and the process of the operators then ends, too.
    this.#child = spawn(process.execPath, [...process.execArgv, script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] })
    this.#child.on('message', (message) => {
      if (!isMessage<OperatorMessage>(message, 'loading', 'done', 'serving', 'ready')) return
      if (message.type === 'ready') ready.resolve(message.next)
      else onMessage(message)
    })
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message))
      this.#child.on('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    void this.ended.then(() => ready.resolve(undefined))
    this.#send(start)
  }

  /** Ends the process gracefully; after 3 seconds, kills it. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#send({ type: 'stop' })
    if ((await within(this.#clock, killAfterMs, this.ended, { keepAlive: true })) === timedOut) this.#child.kill('SIGKILL')
    await this.ended
  }

  #send(message: StartMessage | StopMessage): void {
    // The process may have ended.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
