/** Raw requests to an API server, whose responses are returned unchanged, errors too. */
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Connection } from '../../../src/client/connection.ts'

export interface RawRequest {
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown
  /** Defaults to `application/json` for requests with a body. */
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Texts of the `Warning` headers, unquoted. */
  readonly warnings: readonly string[]
  readonly text: string
  /** The parsed JSON body; an empty object when it is not JSON. */
  readonly body: JsonObject
}

/** Sends one request; the path includes the query. */
export type Api = (method: string, path: string, options?: RawRequest) => Promise<RawAnswer>

/** Returns a function that requests as the user of the connection, whose sockets are closed at the end of the test. */
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
