/** Sends requests with any method and body to one control plane. Watches are returned as lists of events. */
import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { parse } from 'yaml'
import { messageOf } from '../../../src/api/errors.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import type { Connection } from '../../../src/client/connection.ts'
import type { Answer } from './normalise.ts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/**
 * A watch stays open for this many milliseconds after its expected events. If additional events arrive during this time, they are recorded,
 * too.
 */
const surplusMs = 200
const requestTimeoutMs = 15_000

/** Sends requests with one HTTP agent. `close` must be called at the end. */
export class Requests {
  readonly #connectionOf: (user: string | undefined) => Connection
  readonly #agent: Agent

  constructor(connectionOf: (user: string | undefined) => Connection) {
    this.#connectionOf = connectionOf
    const { ca } = connectionOf(undefined)
    this.#agent = new Agent({ connect: ca === undefined ? {} : { ca }, headersTimeout: requestTimeoutMs, bodyTimeout: 0 })
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /** Sends a request. If the connection breaks or the request times out, the status of the response is 0. */
  async send(asked: Request, user?: string): Promise<Answer> {
    try {
      return await wholeAnswer(await this.#request(asked, user, AbortSignal.timeout(requestTimeoutMs)))
    } catch (error) {
      return { status: 0, headers: {}, body: `no answer: ${messageOf(error)}` }
    }
  }

  /** Opens a watch. If the response is not a stream of events, it is returned unchanged. */
  async watch(
    asked: Request,
    { events: wanted, seconds }: { events?: number | undefined; seconds: number },
    user?: string,
  ): Promise<Watch> {
    const ended = new AbortController()
    const answer = await this.#request({ ...asked, method: 'GET' }, user, ended.signal)
    if (answer.statusCode !== 200) {
      const refused = await wholeAnswer(answer)
      return { answer: () => Promise.resolve(refused) }
    }
    const timeout = setTimeout(() => ended.abort(), seconds * 1000)
    const events: JsonValue[] = []
    let complete = false
    const read = async (): Promise<boolean> => {
      let text = ''
      try {
        for await (const chunk of answer.body) {
          text += String(chunk)
          const lines = text.split('\n')
          text = lines.pop()!
          events.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JsonValue))
          if (complete || wanted === undefined || events.length < wanted) continue
          complete = true
          setTimeout(() => ended.abort(), surplusMs)
        }
        return true
      } catch (error) {
        if (!ended.signal.aborted) throw error
        return false
      } finally {
        clearTimeout(timeout)
      }
    }
    const reading = read()
    reading.catch(() => undefined)
    return {
      answer: async () => {
        const endedByServer = await reading
        return { status: 200, headers: headersOf(answer), body: { events, endedByServer } }
      },
    }
  }

  async #request(asked: Request, user: string | undefined, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const connection = this.#connectionOf(user)
    const authorization = await connection.authorization?.()
    return request(connection.server + asked.path, {
      dispatcher: this.#agent,
      method: asked.method as 'GET',
      signal,
      headers: {
        'user-agent': 'differential',
        ...(authorization === undefined ? {} : { authorization }),
        ...asked.headers,
      },
      ...(asked.body === undefined ? {} : { body: asked.body }),
    })
  }
}

export interface Watch {
  /** Resolves with the events when the watch has ended. */
  answer(): Promise<Answer>
}

async function wholeAnswer(answer: Dispatcher.ResponseData): Promise<Answer> {
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  return { status: answer.statusCode, headers: headersOf(answer), body: bodyOf(bytes, String(answer.headers['content-type'])) }
}

function headersOf({ headers }: Dispatcher.ResponseData): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

function bodyOf(bytes: Buffer, contentType: string): JsonValue {
  const text = bytes.toString('utf8')
  if (contentType.includes('protobuf')) return '<protobuf>'
  try {
    if (contentType.includes('json') || text.startsWith('{"')) return JSON.parse(text) as JsonValue
    if (contentType.includes('yaml')) return { yaml: parse(text) as JsonValue }
  } catch {
    // A body that cannot be parsed is compared as a string.
  }
  return text
}

/** Returns the body if it is a JSON object, otherwise an empty object. */
export function objectOf({ body }: Answer): JsonObject {
  return isObject(body) ? body : {}
}
