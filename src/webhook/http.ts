/** The HTTP layer of the webhook server: limits, content types, and error texts for requests that are not reviews. */
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { Server } from 'node:https'
import type { Logger } from '../telemetry/logger.ts'
import type { Clock } from '../api/clock.ts'
import type { MemoryBudget } from './body/budget.ts'
import { costOf } from './body/cost.ts'
import { receiveBodies } from './body/receive.ts'
import { refuse } from './refuse.ts'
import type { TlsLimits } from './tls.ts'

/** Two objects of 3 MiB, the API server's own limit for a request, and 1 MiB for the envelope. */
export const maxReviewBytes = 7 * 1024 * 1024

/**
 * The API server keeps idle connections for 90 s. Closing them later than it does avoids that it sends a request to a closing connection.
 */
const keepAliveMs = 120_000
/** The API server sends some twenty headers. */
const maxHeaderBytes = 16 * 1024
/** Time limits for receiving the headers and the whole request, and the interval of Node.js for checking them. */
const slowSenders = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 }

export type HttpsApp = FastifyInstance<Server>

interface HttpOptions {
  readonly tls: { readonly cert: string; readonly key: string } & TlsLimits
  readonly maxBodyBytes: number
  readonly budget: MemoryBudget
  readonly clock: Clock
  readonly logger: Logger
  /** Checked for each response: true closes the connection after it. */
  readonly draining: () => boolean
  /** The served paths, with POST alone. */
  readonly paths: ReadonlySet<string>
  /** Called for each request to a served path that is not reviewed, with the cause as an HTTP status, and the status of the response. */
  readonly onRefused?: (path: string, code: number, status: number) => void
  /** Other time limits, for tests. */
  readonly limits?: typeof slowSenders
}

export function createHttpApp(options: HttpOptions): HttpsApp {
  const { tls, maxBodyBytes, budget, clock, logger, draining, paths, onRefused, limits = slowSenders } = options
  const app = fastify({
    https: {
      ...tls,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.checkEveryMs,
    },
    logger: false,
    bodyLimit: maxBodyBytes,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: limits.requestMs,
    exposeHeadRoutes: false,
    // A request on an open connection is served while the server closes.
    return503OnClosing: false,
  }) as unknown as HttpsApp

  // Ignores further requests that arrived on a connection after one that closed it.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.raw.socket.destroyed) reply.hijack()
    else next()
  })
  // In this hook rather than in a handler for unknown paths, so that their bodies are never read.
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    const path = pathOf(request.url)
    if (!paths.has(path)) return reply.code(404).type('text/plain; charset=utf-8').send(notFoundText(path, paths))
    return reply.code(405).header('allow', 'POST').type('text/plain; charset=utf-8').send(`${path} takes a review by POST.\n`)
  })
  receiveBodies(app as unknown as FastifyInstance, { what: 'AdmissionReview', maxBytes: maxBodyBytes, budget, clock, costOf })
  app.addHook('onSend', (_request, reply, payload, next) => {
    if (draining()) reply.header('connection', 'close')
    next(null, payload)
  })
  app.setErrorHandler((error: Error, request, reply) => {
    const path = pathOf(request.url)
    const isServed = paths.has(path)
    return refuse(reply, error, { path, logger, onRefused: (code) => isServed && onRefused?.(path, code, code) })
  })
  return app
}

function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}

function notFoundText(path: string, paths: ReadonlySet<string>): string {
  return `${path} is not served. Served are:\n${[...paths].map((served) => `  POST ${served}\n`).join('')}`
}
