/**
 * The messages between Proreus and a process in a network namespace of the cluster, and the script of that process. The process opens
 * connections to Pods for Proreus.
 */
import { extname } from 'node:path'

export interface ConnectRequest {
  readonly id: number
  readonly port: number
  readonly host: string
}

/**
 * The response to a request. If the connection was made, the socket is passed together with the message, as the `sendHandle` of
 * `process.send`.
 */
export interface ConnectAnswer {
  readonly id: number
  /** The error of a connection that could not be made, e.g. with the code ECONNREFUSED. */
  readonly failure?: { readonly message: string; readonly code?: string }
}

export function isConnectRequest(message: unknown): message is ConnectRequest {
  return isNumbered(message) && 'port' in message && 'host' in message
}

export function isConnectAnswer(message: unknown): message is ConnectAnswer {
  return isNumbered(message)
}

function isNumbered(message: unknown): message is { readonly id: number } {
  return typeof message === 'object' && message !== null && 'id' in message && typeof message.id === 'number'
}

/** The script of the process. The script is in the same folder as this module, both in the sources and in the built package. */
export const connectorScript = new URL(`./connector-process${extname(import.meta.url)}`, import.meta.url)
