/**
 * `dial`: connects to a TCP port for a probe or a lifecycle hook of a Pod. The error messages are the same as those of Go's package `net`.
 */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { messageOf } from '../../../api/errors.ts'
import { urlHost } from '../../../runtime/listen.ts'
import { untilAborted } from '../../../runtime/waiting.ts'
import { DeadlineExceeded } from './deadline.ts'
import type { ProbeTarget } from './probe-target.ts'

/** The error of a connection that could not be opened, or that broke. The message is that of Go's `net.OpError`. */
export class ConnectionError extends Error {}

export interface Connection {
  readonly socket: Duplex
  /**
   * The addresses of both ends of the connection as Go's `net.OpError` writes them, e.g. `127.0.0.1:35682->127.0.0.1:80`. If the local
   * address is unknown, the text contains only the address of the remote end.
   */
  readonly ends: string
}

export interface DialOptions {
  readonly port: number
  /** The host that the handler declares. Default: the address of the Pod. */
  readonly host?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Connects to a TCP port. The caller has to destroy the socket.
 *
 * @throws {ConnectionError} when the port could not be reached, or when `signal` aborts with a `DeadlineExceeded` during the call.
 * @throws the reason of `signal` when `signal` has already aborted, or aborts with another reason.
 */
export async function dial(target: ProbeTarget, { port, host, signal }: DialOptions): Promise<Connection> {
  const address = `${urlHost(host ?? target.address)}:${port}`
  signal.throwIfAborted()
  try {
    const socket = await untilAborted(target.connect(port, host), signal, discard)
    // If a socket has no listener for errors, an error ends this process. The code that reads from the socket or writes to it adds its own
    // listener only when it begins to read or write. Until then, this listener ignores errors.
    socket.on('error', ignore)
    return { socket, ends: endsOf(socket, address) }
  } catch (error) {
    if (signal.aborted && !(signal.reason instanceof DeadlineExceeded)) throw error
    throw new ConnectionError(dialMessage(error, address, host), { cause: error })
  }
}

function discard(socket: Duplex): void {
  socket.on('error', ignore)
  socket.destroy()
}

function ignore(): void {
  // The stream closes after the error, so nothing is left to do.
}

function endsOf(socket: Duplex, remote: string): string {
  if (!(socket instanceof Socket) || socket.localAddress === undefined) return remote
  return `${urlHost(socket.localAddress)}:${socket.localPort}->${remote}`
}

/** The messages of errors of `connect` in Go, keyed by error code. */
const connectErrors: ReadonlyMap<string | undefined, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by peer'],
  ['EHOSTUNREACH', 'no route to host'],
  ['ENETUNREACH', 'network is unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
])

function dialMessage(error: unknown, address: string, host = ''): string {
  if (error instanceof DeadlineExceeded) return `dial tcp ${address}: i/o timeout`
  const code = codeOf(error)
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`
  const words = connectErrors.get(code)
  return `dial tcp ${address}: ${words === undefined ? messageOf(error) : `connect: ${words}`}`
}

/** Returns the message of an error of an open connection. Returns undefined for an error that does not come from the network. */
export function networkMessage(error: unknown, ends: string): string | undefined {
  const code = codeOf(error)
  // If the peer has reset the connection, a system call fails with ECONNRESET. If the connection ends too early, Node.js reports ECONNRESET
  // without a system call.
  if (code === 'ECONNRESET') return hasSystemCall(error) ? `read tcp ${ends}: read: connection reset by peer` : 'EOF'
  if (code === 'EPIPE') return `write tcp ${ends}: write: broken pipe`
  return undefined
}

/** Returns the code of an error of Node.js, e.g. ECONNREFUSED. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function hasSystemCall(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall !== undefined
}
