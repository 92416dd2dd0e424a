/** Copies the bytes of one forwarded connection between a client and a port of a Pod. */
import type { Duplex, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '../../../api/errors.ts'
import type { ContainerAccess } from '../../rest/container-access.ts'
import type { StoredPod } from './target-container.ts'

export interface PortTarget {
  readonly containers: ContainerAccess
  readonly pod: StoredPod
  readonly port: number
}

/** The client's side of a forwarded connection. */
export interface ForwardedStreams {
  readonly input: Readable
  readonly output: Writable
  /** True when the client can end its output and still receive data. */
  readonly hasHalfClose: boolean
}

/**
 * Forwards one connection. Resolves with undefined when both directions have ended. If the port cannot be reached, resolves with the error
 * message for the client. Never rejects.
 */
export async function forwardPort({ containers, pod, port }: PortTarget, streams: ForwardedStreams): Promise<string | undefined> {
  const { input, output } = streams
  let connection: Duplex
  try {
    connection = await containers.connect({ pod: pod.name, uid: pod.uid }, port)
  } catch (error) {
    input.destroy()
    return `error forwarding port ${port} to pod ${pod.name}, uid ${pod.uid}: ${messageOf(error)}`
  }
  // While the pipelines run, they handle errors. Without this listener, an error before the pipelines start or after they have ended would
  // end the process.
  connection.on('error', () => undefined)
  if (input.destroyed || output.destroyed) {
    connection.destroy()
    return undefined
  }
  const received = pipeline(connection, output)
  const sent = pipeline(input, connection)
  received.finally(() => streams.hasHalfClose || input.destroy()).catch(() => undefined)
  await Promise.allSettled([received, sent])
  connection.destroy()
  input.destroy()
  return undefined
}
