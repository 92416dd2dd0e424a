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

/** The message that the process of the operators sends after the operators have started. */
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

/** Returns true when `value` is a message of the parent process. */
export function isParentMessage(value: unknown): value is StartMessage | StopMessage {
  return isObject(value) && (value['type'] === 'start' || value['type'] === 'stop')
}

/**
 * Returns true when `value` is a message of the process of the operators. The user's modules in this process can send other messages on the
 * same channel.
 */
export function isOperatorMessage(value: unknown): value is OperatorMessage {
  if (!isObject(value)) return false
  const { type, file, step, detail, webhook, metrics, next } = value
  switch (type) {
    case 'loading':
      return isObject(file) && isText(file['path']) && isText(file['state'])
    case 'done':
      return isText(step) && isText(detail)
    case 'serving':
      return isPort(webhook ?? 1) && isPort(metrics ?? 1)
    case 'ready':
      return isObject(next) && isText(next['resource'] ?? '') && isText(next['sample'] ?? '')
    default:
      return false
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
}
