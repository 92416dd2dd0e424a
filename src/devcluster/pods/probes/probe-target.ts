/** `ProbeTarget`: the functions of a running container that its probes and hooks use. */
import type { Duplex } from 'node:stream'
import type { ExecProcess } from '../driver.ts'

export interface ProbeTarget {
  /** The address of the Pod, to which probes without a `host` connect. */
  readonly address: string
  /**
   * Connects to a TCP port within the network of the Pod. `host` is the host that the handler declares. Default: `address`. Rejects with
   * the error of the connection, e.g. with the code ECONNREFUSED.
   */
  connect(port: number, host?: string): Promise<Duplex>
  /** Starts a command within the container. Rejects when the command could not be started. */
  execute(command: readonly string[]): Promise<ExecProcess>
}
