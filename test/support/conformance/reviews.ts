/** An HTTPS server on loopback to which an API server sends AdmissionReviews and ConversionReviews. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { issueAuthority, issueLeaf } from '../../../src/certs/issue.ts'

/** A review that the server has received. */
export interface ReceivedReview {
  /** The path of the URL, without its leading slash. */
  readonly path: string
  /** The query of the URL, for example `timeout=10s`. */
  readonly query: string
  readonly headers: IncomingMessage['headers']
  readonly review: JsonObject
}

/** Returns the field `response` of the review, without `uid`. A function that returns undefined must write the HTTP response itself. */
export type Respond<Call> = (call: Call, response: ServerResponse) => JsonObject | undefined

export interface ReviewServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  readonly caBundle: string
}

/** Starts a server that responds to each review with the result of `respond`. The server is stopped at the end of the test. */
export async function startReviewServer(t: Test, respond: Respond<ReceivedReview>): Promise<ReviewServer> {
  const now = Date.now()
  const authority = await issueAuthority(now)
  const leaf = await issueLeaf(authority, { names: ['hooks.conformance.svc'], ips: ['127.0.0.1'], now })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = request.url!.slice(1).split('?')
    const review = JSON.parse(await text(request)) as JsonObject
    const given = respond({ path, query, headers: request.headers, review }, response)
    if (given === undefined) return
    const { apiVersion, kind } = review
    const { uid } = review.request as JsonObject
    respondReview(response, { apiVersion, kind, response: { uid, ...given } })
  }

  const server = createServer(leaf, (request, response) => {
    // If the test's own `respond` throws, the call of the webhook fails with the message of the error.
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, caBundle: base64(authority.cert) }
}

/** Stores the calls that a webhook server of a test receives. `take` returns the stored calls and removes them. */
export class Calls<Call> {
  #calls: Call[] = []

  add(call: Call): void {
    this.#calls.push(call)
  }

  /** Returns the calls since the last `take`, the oldest first. */
  take(): Call[] {
    const taken = this.#calls
    this.#calls = []
    return taken
  }
}

/** Writes a review, or any other value, as a JSON response. */
export function respondReview(response: ServerResponse, body: unknown): void {
  response.setHeader('content-type', 'application/json').end(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Returns a function that responds with this status code, body and headers instead of a review. */
export function raw(
  code: number,
  body: string,
  headers: Readonly<Record<string, string>> = { 'content-type': 'text/plain' },
): Respond<unknown> {
  return (_call, response) => {
    response.writeHead(code, headers).end(body)
    return undefined
  }
}

export function base64(value: string): string {
  return Buffer.from(value).toString('base64')
}
