/**
 * `HostListeners`: listens at the address at which Pods reach the developer's machine. There is a listener for each port on which a server
 * of this machine listens.
 */
import type { Server, Socket } from 'node:net'
import { listenForParent } from './handed-listener.ts'

export class HostListeners {
  readonly #address: string
  readonly #handOver: (port: number, socket: Socket) => void
  readonly #warn: (reason: string) => void
  readonly #servers = new Map<number, Server>()

  constructor(address: string, handOver: (port: number, socket: Socket) => void, warn: (reason: string) => void) {
    this.#address = address
    this.#handOver = handOver
    this.#warn = warn
  }

  /** Opens the ports in `ports` that are not open yet, and closes all other ports. */
  set(ports: readonly number[]): void {
    const wanted = new Set(ports)
    for (const [port, server] of this.#servers) {
      if (wanted.has(port)) continue
      server.close()
      this.#servers.delete(port)
    }
    for (const port of wanted) if (!this.#servers.has(port)) this.#servers.set(port, this.#listen(port))
  }

  /**
   * Opens a listener for a port on which a server of the developer's machine listens. If the listener cannot be opened, the next attempt is
   * made only after this server has been stopped and started again.
   */
  #listen(port: number): Server {
    return listenForParent(
      { address: this.#address, port },
      (socket) => this.#handOver(port, socket),
      (error) => this.#warn(`port ${port} of the developer's machine could not be opened at ${this.#address}: ${error.message}`),
    )
  }
}
