/** Raw requests to an API server: every answer as it is, refusals too. */
import type { Test } from 'tap'
import { Agent, request } from 'undici'
import type { JsonObject } from '../../src/api/json.ts'
import type { Connection } from '../../src/client/connection.ts'

export interface RawRequest {
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown
  /** Default `application/json` where there is a body. */
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Texts of the `Warning` headers, as a client shows them. */
  readonly warnings: readonly string[]
  readonly text: string
  /** The body as JSON; an empty object when it is something else. */
  readonly body: JsonObject
}

/** Sends `method path`, where the path carries its query. */
export type Api = (method: string, path: string, options?: RawRequest) => Promise<RawAnswer>

/** Requests as whom the connection says; its sockets end with the test. */
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
