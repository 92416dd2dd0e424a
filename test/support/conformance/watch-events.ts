/** `watchesOf`: opens watches without a client library. A watch records all events that the server sends, and does not modify them. */
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import { messageOf } from '../../../src/api/errors.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Connection } from '../../../src/client/connection.ts'
import { LineSplitter } from '../../../src/client/line-splitter.ts'
import { metadataOf } from './objects.ts'
import { until } from '../../../src/testing/until.ts'

export interface RawEvent {
  readonly type: string
  readonly object: JsonObject
}

export interface RawWatch {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The events that the watch has received so far. New events are appended to this list. */
  readonly events: readonly RawEvent[]
  /**
   * Waits until `count` events were received since the start, and returns all events so far. Rejects after `timeoutMs` milliseconds
   * (default 20,000) with an error that lists the events so far.
   */
  take(count: number, timeoutMs?: number): Promise<readonly RawEvent[]>
  /** Resolves with all events when the server has ended the watch. */
  readonly ended: Promise<readonly RawEvent[]>
  close(): void
}

/** Opens a watch of `path`. Adds `watch=true` to the query of the path. The watch is closed at the end of the test. */
export type OpenWatch = (path: string, options?: { readonly accept?: string }) => Promise<RawWatch>

export function watchesOf(t: Test, connection: Connection): OpenWatch {
  const agent = new Agent({ connect: { ...(connection.ca === undefined ? {} : { ca: connection.ca }) } })
  t.teardown(() => agent.destroy())
  return async (path, { accept = 'application/json' } = {}) => {
    const authorization = await connection.authorization?.()
    const abort = new AbortController()
    const answer = await request(`${connection.server}${path}${path.includes('?') ? '&' : '?'}watch=true`, {
      dispatcher: agent,
      signal: abort.signal,
      headers: { accept, 'user-agent': 'conformance', ...connection.headers, ...(authorization === undefined ? {} : { authorization }) },
    })
    const events: RawEvent[] = []
    const read = async (): Promise<readonly RawEvent[]> => {
      const lines = new LineSplitter()
      try {
        for await (const chunk of answer.body as AsyncIterable<Buffer>)
          for (const line of lines.push(chunk)) events.push(JSON.parse(line.toString()) as RawEvent)
      } catch (error) {
        if (!abort.signal.aborted) throw error
      }
      return events
    }
    const ended = read()
    ended.catch(() => undefined)
    return {
      status: answer.statusCode,
      headers: answer.headers,
      events,
      ended,
      close: () => abort.abort(),
      async take(count, timeoutMs) {
        try {
          return await until(`${count} events of ${path}`, () => events.length >= count && events, timeoutMs)
        } catch (error) {
          throw new Error(`${messageOf(error)}; received: ${JSON.stringify(events.map(brief))}`, { cause: error })
        }
      },
    }
  }
}

/**
 * Returns the type of a watch event and the name of its object, such as `ADDED pod-1`. For an error, returns the type and the reason of the
 * Status, such as `ERROR Expired`. For an event without a name, such as a bookmark, returns only the type.
 */
export function brief({ type, object }: RawEvent): string {
  const { name } = metadataOf(object)
  return [type, typeof name === 'string' ? name : type === 'ERROR' ? String(object.reason) : ''].join(' ').trim()
}
