/** Sends raw requests to an API server. The responses are returned unchanged, even if they are errors. */
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Connection } from '../../../src/client/connection.ts'

export interface RawRequest {
  /** The request body. A string is sent unchanged, and every other value as JSON. */
  readonly body?: unknown
  /** The media type of the body. If absent, it is `application/json` for requests with a body. */
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The texts in the `Warning` headers, without quotes. */
  readonly warnings: readonly string[]
  readonly text: string
  /** The parsed body; an empty object if the body is not JSON. */
  readonly body: JsonObject
}

/** Sends a request. The path includes the query. */
export type Api = (method: string, path: string, options?: RawRequest) => Promise<RawAnswer>

/** Returns a function that sends requests as the user of the connection. The sockets of the function are closed at the end of the test. */
export function apiOf(t: Test, connection: Connection): Api {
  const agent = new Agent({ connect: { ...(connection.ca === undefined ? {} : { ca: connection.ca }) } })
  t.teardown(() => agent.destroy())
  return async (method, path, { body, contentType, accept = 'application/json', headers = {} } = {}) => {
    const [authorization, tls] = await Promise.all([connection.authorization?.(), connection.tls?.()])
    if (tls?.cert !== undefined) throw new Error('the tests of raw requests use tokens')
    const answer = await request(connection.server + path, {
      dispatcher: agent,
      method: method as 'GET',
      headers: {
        accept,
        'user-agent': 'conformance',
        ...connection.headers,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, headers: answer.headers, warnings: warningsOf(answer.headers['warning']), text, body: json(text) }
  }
}

function json(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject
  } catch {
    return {}
  }
}

function warningsOf(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replaceAll(/\\(.)/g, '$1')))
}
