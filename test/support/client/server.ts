/** A minimal HTTP or HTTPS server that replaces the API server in tests of the transport. */
import { createServer as createHttpServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Connection } from '../../../src/client/connection.ts'

export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The common name of the client's certificate; undefined without a client certificate. */
  readonly clientName?: string | undefined
}

export interface TestServer {
  readonly url: string
  readonly connection: Connection
  readonly requests: ReceivedRequest[]
  /** The number of TCP connections that were accepted since the start. */
  readonly sockets: number
  close(): Promise<void>
}

export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string | string[]>
  readonly body?: unknown
}
/** Returns the response to a request; undefined when the handler itself has written the response. */
export type Handler = (request: ReceivedRequest, response: ServerResponse, index: number) => Answer | undefined

export async function startTestServer(handler: Handler, tls?: { cert: string; key: string; ca: string }): Promise<TestServer> {
  const requests: ReceivedRequest[] = []
  let sockets = 0
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const socket = incoming.socket as Partial<TLSSocket>
      const clientName = socket.getPeerCertificate?.()?.subject?.CN
      const request = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
        clientName: typeof clientName === 'string' ? clientName : undefined,
      }
      requests.push(request)
      const answer = handler(request, response, requests.length - 1)
      if (answer === undefined) return
      const text = typeof answer.body === 'string'
      response.writeHead(answer.status ?? 200, {
        'content-type': text ? 'text/plain; charset=utf-8' : 'application/json',
        ...answer.headers,
      })
      response.end(text ? answer.body : JSON.stringify(answer.body ?? {}))
    })
  }
  const server =
    tls === undefined ? createHttpServer(listener) : createHttpsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, listener)
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => (sockets += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    connection: { server: url, describe: 'a test', ...(tls === undefined ? {} : { ca: tls.ca }) },
    requests,
    get sockets() {
      return sockets
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
