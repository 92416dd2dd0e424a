/** `OperatorsChild`: starts and stops the process that runs the operators of `proreus dev --watch`. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, within } from '../../runtime/waiting.ts'
import type { NextSteps } from '../dev-operators.ts'
import type { OperatorMessage, ReadyMessage, StartMessage, StopMessage } from './messages.ts'
import { isOperatorMessage } from './messages.ts'
import { siblingModule } from './sibling-module.ts'

/**
 * Time in milliseconds after which `stop` kills the process. A graceful shutdown takes less than 3 seconds. Requests and reconciles have
 * one second to finish, and then one second to end after their signals abort.
 */
const killAfterMs = 3_000

export class OperatorsChild {
  readonly #child: ChildProcess
  readonly #clock: Clock
  /** Resolves when the operators run. If the process ends before the operators run, the promise resolves to undefined. */
  readonly ready: Promise<NextSteps | undefined>
  /**
   * Resolves when the process has ended. The result is the exit code or the signal as text. If the process could not be started, the result
   * is the message of the error.
   */
  readonly ended: Promise<string>

  /**
   * Starts the process. `onMessage` receives all messages of the process except `ready`. If a module of the operators sends a message of
   * its own, `onMessage` receives undefined.
   */
  constructor(start: StartMessage, clock: Clock, onMessage: (message: Exclude<OperatorMessage, ReadyMessage> | undefined) => void) {
    const ready = Promise.withResolvers<NextSteps | undefined>()
    this.ready = ready.promise
    this.#clock = clock
    const script = fileURLToPath(siblingModule('operators-process'))
    // The last pipe carries no data. The operating system closes the pipe when this process ends. The process of the operators then ends,
    // too.
    this.#child = spawn(process.execPath, [...process.execArgv, script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] })
    this.#child.on('message', (message) => {
      if (!isOperatorMessage(message)) onMessage(undefined)
      else if (message.type === 'ready') ready.resolve(message.next)
      else onMessage(message)
    })
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message))
      this.#child.on('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
    })
    void this.ended.then(() => ready.resolve(undefined))
    this.#send(start)
  }

  /** Shuts the process down gracefully, or kills it after 3 seconds. Resolves when the process has ended. */
  async stop(): Promise<void> {
    this.#send({ type: 'stop' })
    if ((await within(this.#clock, killAfterMs, this.ended, { keepAlive: true })) === timedOut) this.#child.kill('SIGKILL')
    await this.ended
  }

  #send(message: StartMessage | StopMessage): void {
    // If the process has ended, the message is dropped.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }
}
