/** The messages between `proreus dev --watch` and the process of its operators. */
import { isObject } from '../../api/json.ts'
import type { NextSteps } from '../dev-operators.ts'
import type { LogOptions } from '../logging.ts'
import type { OperatorSelection } from '../operators.ts'
import type { SourceFile } from './source-file.ts'

/** The first message to the process of the operators. */
export interface StartMessage {
  readonly type: 'start'
  readonly selection: OperatorSelection
  readonly log: LogOptions
  readonly certDir: string
  readonly connection: { readonly server: string; readonly ca?: string; readonly authorization?: string | undefined }
  readonly urls: { readonly webhook: string; readonly metrics: string }
}

/** The message after which the process of the operators shuts down. */
export interface StopMessage {
  readonly type: 'stop'
}

/** The message that is sent when the operators run. */
export interface ReadyMessage {
  readonly type: 'ready'
  readonly next: NextSteps
}

/** The messages that the process of the operators sends. */
export type OperatorMessage =
  /** A module is about to be loaded. */
  | { readonly type: 'loading'; readonly file: SourceFile }
  /** A step of the start has finished. */
  | { readonly type: 'done'; readonly step: string; readonly detail: string }
  /** The servers accept connections on these ports. */
  | { readonly type: 'serving'; readonly webhook?: number; readonly metrics?: number }
  | ReadyMessage

/** Returns true when `value` is a message of one of the types. The modules of operators can send other messages on the same channel. */
export function isMessage<Message extends StartMessage | StopMessage | OperatorMessage>(
  value: unknown,
  ...types: readonly Message['type'][]
): value is Message {
  return isObject(value) && types.some((type) => type === value['type'])
}
