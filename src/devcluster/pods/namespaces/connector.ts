/** `Connector`: connects to ports in a network of the cluster, through a process that runs in this network. */
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ConnectorChild } from './connector-child.ts'
import { connectorScript } from './network-messages.ts'

export class Connector {
  readonly #command: readonly string[]
  /** Resolves with the process after the process has started. Undefined when no process runs. */
  #child: Promise<ConnectorChild> | undefined
  #isClosed = false

  /** @param enter the command that runs another command in the network. The other command is appended to `enter`. */
  constructor(enter: readonly string[]) {
    this.#command = [...enter, process.execPath, fileURLToPath(connectorScript)]
    this.#child = this.#start()
  }

  /** Connects to a TCP port. Rejects with the error of the connection, e.g. with the code ECONNREFUSED. */
  async connect(port: number, host: string): Promise<Socket> {
    if (this.#isClosed) throw new Error(`cannot connect to ${host}:${port}: the network has been removed`)
    // If the process was killed, for example because the machine was out of memory, another process is started.
    this.#child ??= this.#start()
    const child = await this.#child
    return child.connect(port, host)
  }

  /** Ends the process. Existing connections stay open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const child = await this.#child?.catch(() => undefined)
    await child?.close()
  }

  #start(): Promise<ConnectorChild> {
    const starting = ConnectorChild.start(this.#command)
    const forget = (): void => {
      if (this.#child === starting) this.#child = undefined
    }
    starting.then(({ ended }) => ended.then(forget), forget)
    return starting
  }
}
