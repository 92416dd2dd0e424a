/**
 * `RemoteStreams`: the streams between a client and the process of an exec or an attach. The interface is the same for SPDY and WebSocket.
 */
import type { Readable, Writable } from 'node:stream'
import type { Status } from '../../../api/status.ts'
import type { Clock } from '../../../runtime/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Exchange } from '../exchange.ts'
import type { RequestedUpgrade } from './upgrade.ts'

/** The streams that the client requests. */
export interface StreamOptions {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

export interface RemoteStreams {
  readonly stdin?: Readable
  readonly stdout?: Writable
  readonly stderr?: Writable
  /** The sizes of the terminal, as JSON. */
  readonly resize?: Readable
  /** Sends the result and closes the connection. The caller calls `finish` once, after all output has been written. */
  finish(result: Status): Promise<void>
}

/** A request to open the streams of an exec or an attach. */
export interface StreamRequest {
  readonly exchange: Exchange
  readonly upgrade: RequestedUpgrade
  readonly options: StreamOptions
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Returns the text that is sent on the error stream for a result. Since version 4 of the protocol, the text is a Status as JSON
 * (k8s.io/cri-streaming/pkg/streaming/remotecommand: v4WriteStatusFunc). Before version 4, the text is the message of a failure, or empty
 * for a success (v1WriteStatusFunc).
 */
export function statusText(result: Status, isJson: boolean): string {
  if (isJson) return JSON.stringify(result)
  return result.status === 'Success' ? '' : (result.message ?? '')
}
