/** Parses the body of a watch response: one JSON event on each line. */
import { ProreusError } from '../api/errors.ts'
import { isObject, stringifyJson } from '../api/json.ts'
import { parseJsonBytes } from '../api/json-reader.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import { failure } from '../api/status.ts'
import { ApiError, longestText } from './api-error.ts'
import { LineSplitter } from './line-splitter.ts'

/** An event of a watch. The object of a BOOKMARK event has no data except `metadata.resourceVersion`. */
export interface WatchEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
}

const eventTypes: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/** Yields the events of `stream`, and reads no faster than the caller consumes them. Throws `ApiError` for an ERROR event. */
export async function* readEvents<T extends KubernetesObject>(
  stream: AsyncIterable<Buffer>,
  request: { readonly method: string; readonly path: string },
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const lines = new LineSplitter()
  for await (const chunk of stream) {
    for (const line of lines.push(chunk)) yield parseEvent<T>(line, request)
  }
  const rest = lines.end()
  if (rest.length > 0) throw new ProreusError('PRO_API_UNREACHABLE', `The watch of ${request.path} ended in the middle of an event.`)
}

function parseEvent<T extends KubernetesObject>(line: Buffer, request: { readonly method: string; readonly path: string }): WatchEvent<T> {
  let event: unknown
  try {
    event = parseJsonBytes(line)
  } catch (cause) {
    throw new ProreusError('PRO_API', `The watch of ${request.path} sent a line that is not valid JSON.`, { cause })
  }
  if (!isObject(event) || !isObject(event.object)) {
    throw new ProreusError(
      'PRO_API',
      `The watch of ${request.path} sent a line that is not a watch event: ${line.toString('utf8', 0, 200)}`,
    )
  }
  if (event.type === 'ERROR') throw new ApiError(errorStatus(event.object), request)
  if (!eventTypes.has(event.type))
    throw new ProreusError('PRO_API', `The watch of ${request.path} sent an event of the unknown type ${quoted(event.type)}.`)
  return event as unknown as WatchEvent<T>
}

function errorStatus(object: object): Status {
  const status = object as unknown as Status
  return status.kind === 'Status'
    ? status
    : failure(500, 'InternalError', `the watch ended with an error without a message: ${quoted(object)}`)
}

/** Returns the beginning of a value as JSON, for an error message. */
function quoted(value: unknown): string {
  return String(stringifyJson(value)).slice(0, longestText)
}
