/** `ExecSession`: a command that runs in a container while a client is connected, as with `kubectl exec`. */
import { WebSocket } from 'ws'
import type { Connection } from '../../../src/client/connection.ts'

export interface ExecTarget {
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

export class ExecSession {
  /** The output of the command so far: stdout and stderr. */
  output = ''
  hasEnded = false
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
    // The first byte of a message is the channel (k8s.io/apimachinery/pkg/util/remotecommand). Channel 1 is stdout, and channel 2 is
    // stderr.
    socket.on('message', (data: Buffer) => {
      if (data[0] === 1 || data[0] === 2) this.output += data.subarray(1).toString()
    })
    socket.on('close', () => (this.hasEnded = true))
    socket.on('error', () => (this.hasEnded = true))
  }

  static async open(
    connection: Connection,
    { namespace, pod, container }: ExecTarget,
    command: readonly string[],
    { tty = false }: { readonly tty?: boolean } = {},
  ): Promise<ExecSession> {
    const query = new URLSearchParams({ container, stdout: 'true', stderr: String(!tty), stdin: 'true', tty: String(tty) })
    for (const word of command) query.append('command', word)
    const url = `${connection.server.replace(/^http/, 'ws')}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`
    const authorization = (await connection.authorization?.()) ?? ''
    const socket = new WebSocket(url, ['v5.channel.k8s.io'], {
      headers: { authorization },
      ...(connection.ca !== undefined && { ca: connection.ca }),
    })
    const session = new ExecSession(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', reject)
    })
    return session
  }

  /** Closes the connection. The cluster then kills the command. */
  close(): void {
    this.#socket.terminate()
  }
}
