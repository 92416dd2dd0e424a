/** WATCH: a stream of JSON lines that ends at its timeout, when the client disconnects, or when the server closes. */
import { once } from 'node:events'
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, notSupported } from '../../api/field-error.ts'
import type { Status } from '../../api/status.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { messageOf } from '../../api/errors.ts'
import type { JsonObject } from '../../api/json.ts'
import { refuseListOptions } from '../registry/verbs/list.ts'
import type { WatchOptions } from '../registry/registry.ts'
import { StatusError, internalError } from '../apimachinery/status-error.ts'
import type { Exchange } from './exchange.ts'
import { presentEvent } from './present.ts'
import { listOptions, presentationOf } from './read.ts'
import { flag } from './request-info.ts'
import { setWarnings } from './respond.ts'
import type { ResourceRequest, Services } from './services.ts'

/**
 * Maximum size of the collected lines, in bytes. The lines are written at the end of the current iteration of the event loop, or as soon as
 * they exceed this size.
 */
const batchLength = 64 * 1024

/** If a client has read nothing for this many milliseconds, its watch is closed. The client can then start another watch. */
const stallMs = 60_000

export async function watchObjects(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const presentation = presentationOf(exchange, request, services, true)
  const options = watchOptions(exchange.query, request)
  // If the watch cannot be opened, the response has the status code of the error. Two kinds of errors are instead sent as ERROR events in a
  // response with status code 200: an expired resourceVersion, and errors that occur after the response has begun.
  const events = opened(() => services.registry.watch(request.info, options, exchange.signal))
  let next = settled(events.next())
  const first = await Promise.race([next, endOfTurn().then(() => undefined)])
  if (first !== undefined && 'error' in first && !isExpired(first.error)) throw first.error

  const lines = begin(exchange)
  let columnDefinitions = true
  try {
    for (;;) {
      const outcome = await next
      if (exchange.signal.aborted) break
      if ('error' in outcome) {
        lines.write(services.jsonText.event('ERROR', statusOf(outcome.error, services)))
        break
      }
      if (outcome.result.done === true) break
      const { type, object } = outcome.result.value
      const shown = presentEvent(type, object, { ...presentation, now: services.clock.now() }, columnDefinitions)
      columnDefinitions &&= type === 'ERROR'
      if (!lines.write(services.jsonText.event(type, shown)) && !(await drained(exchange, services))) break
      next = settled(events.next())
    }
  } finally {
    await events.return?.()
    lines.end()
  }
}

type Events = AsyncIterator<{ type: string; object: JsonObject }>

/** Opens the watch. If `open` throws, the promise of the first event rejects. */
function opened(open: () => AsyncIterable<{ type: string; object: JsonObject }>): Events {
  try {
    return open()[Symbol.asyncIterator]()
  } catch (error) {
    return { next: () => Promise.reject(error as Error) }
  }
}

function watchOptions(query: URLSearchParams, request: ResourceRequest): WatchOptions {
  const { limit: _limit, continue: continued = '', resourceVersionMatch: match = '', ...selection } = listOptions(query, request)
  refuseListOptions(watchErrors(match, continued, selection.sendInitialEvents !== undefined))
  const { name } = request.target
  return {
    ...selection,
    ...(name === '' ? {} : { name }),
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks'),
  }
}

/**
 * Returns the field errors of watch options. `sendInitialEvents` requires `resourceVersionMatch=NotOlderThan`, and `resourceVersionMatch`
 * requires `sendInitialEvents` (k8s.io/apimachinery/pkg/apis/meta/internalversion/validation: ValidateListOptions).
 */
function watchErrors(match: string, continued: string, sendsInitialEvents: boolean): FieldError[] {
  const refuse = (detail: string): FieldError => forbidden('resourceVersionMatch', detail)
  const errors: FieldError[] = []
  if (sendsInitialEvents && match !== 'NotOlderThan')
    errors.push(refuse('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (match !== '' && !sendsInitialEvents)
    errors.push(refuse('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  if (match !== '' && match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']))
  if (continued !== '') errors.push(refuse('resourceVersionMatch is forbidden when continue is provided'))
  return errors
}

/** Writes the lines of the response. If `write` returns false, the caller must await `drained` before the next line. */
interface Lines {
  write(line: Buffer): boolean
  end(): void
}

/**
 * Begins the response. The headers are sent immediately, because clients wait for the headers. Lines that are added in one iteration of the
 * event loop are written together. If they exceed `batchLength`, they are written immediately.
 */
function begin(exchange: Exchange): Lines {
  const { response, signal } = exchange
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Cache-Control', 'no-cache, private')
  response.setHeader('Transfer-Encoding', 'chunked')
  setWarnings(exchange)
  response.writeHead(200)
  response.flushHeaders()
  let pending: Buffer[] = []
  let length = 0
  const flush = (): void => {
    if (pending.length > 0 && response.writable) response.write(pending.length === 1 ? pending[0] : Buffer.concat(pending, length))
    pending = []
    length = 0
  }
  const end = (): void => {
    flush()
    response.end()
  }
  signal.addEventListener('abort', end, { once: true })
  return {
    end,
    write(line) {
      if (pending.length === 0) void endOfTurn().then(flush)
      pending.push(line)
      length += line.length
      if (length > batchLength) flush()
      return !response.writableNeedDrain
    },
  }
}

/** Waits until the client has read the data in the buffer. Resolves with false when the watch must end. */
async function drained({ response, signal }: Exchange, { clock }: Services): Promise<boolean> {
  const stalled = new AbortController()
  const timer = clock.after(stallMs, () => stalled.abort())
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, stalled.signal]) })
    return true
  } catch {
    // The client has disconnected, or does not read the response. In both cases, the client would not receive the rest of the response.
    response.destroy()
    return false
  } finally {
    timer.cancel()
  }
}

/**
 * Returns a promise that never rejects. If `promise` rejects, the returned promise resolves with the error. This function prevents an
 * unhandled rejection if `promise` rejects before the caller awaits it.
 */
function settled<T>(promise: Promise<T>): Promise<{ result: T } | { error: unknown }> {
  return promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
}

function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.status.code === 410
}

function statusOf(error: unknown, { logger }: Services): Status {
  if (error instanceof StatusError) return error.status
  logger.error({ err: error }, 'a watch failed')
  return internalError(messageOf(error)).status
}
