/**
 * `ConnectorChild`: the process that opens the connections of a `Connector`. The process runs `connector-process.ts` in the network
 * namespace from which the connections are opened.
 */
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../../api/errors.ts'
import type { ConnectRequest } from './network-messages.ts'
import { isConnectAnswer } from './network-messages.ts'
import { startProgram } from './programs.ts'

type Pending = ReturnType<typeof Promise.withResolvers<Socket>>

export class ConnectorChild {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, Pending>()
  #requests = 0
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>

  /** @throws {ProgramError} when the process could not be started. */
  static async start(command: readonly string[]): Promise<ConnectorChild> {
    return new ConnectorChild(await startProgram(command, ['ignore', 'ignore', 'pipe', 'ipc']))
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    const errors = child.stderr === null ? Promise.resolve('') : text(child.stderr).catch(messageOf)
    child.on('message', (message, handle) => this.#receive(message, handle))
    this.ended = new Promise((resolve) => {
      child.on('exit', () => {
        // `child` is nsenter. nsenter starts the connector process in the network namespace. When nsenter has ended, the connector process
        // can still be running. The connector process ends when the IPC channel closes.
        if (child.connected) child.disconnect()
        resolve()
        void errors.then((words) => this.#fail(new Error(words.trim() === '' ? 'the network has been removed' : words.trim())))
      })
    })
  }

  /** Connects to a TCP port. Rejects with the error of the connection, or with the reason why the process has ended. */
  connect(port: number, host: string): Promise<Socket> {
    const id = this.#requests++
    const pending = Promise.withResolvers<Socket>()
    this.#pending.set(id, pending)
    // `send` fails only if the IPC channel is closed. The error is ignored: when the IPC channel is closed, the child process ends, and
    // when the child process has ended, all pending requests are rejected.
    this.#child.send({ id, port, host } satisfies ConnectRequest, () => undefined)
    return pending.promise
  }

  /** Ends the process. Existing connections stay open. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.ended
  }

  #receive(message: unknown, handle: unknown): void {
    const socket = handle instanceof Socket ? handle : undefined
    // The socket may emit an error before the caller adds a listener. Without the listener here, Node.js would throw the error.
    socket?.on('error', () => undefined)
    const pending = isConnectAnswer(message) ? this.#pending.get(message.id) : undefined
    if (!isConnectAnswer(message) || pending === undefined) {
      socket?.destroy()
      return
    }
    this.#pending.delete(message.id)
    const { failure } = message
    if (socket !== undefined) pending.resolve(socket)
    else pending.reject(Object.assign(new Error(failure?.message ?? 'the connection has ended'), { code: failure?.code }))
  }

  #fail(problem: Error): void {
    for (const pending of this.#pending.values()) pending.reject(problem)
    this.#pending.clear()
  }
}
