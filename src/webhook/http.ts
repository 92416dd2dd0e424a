/** The HTTP side of the webhook server: limits, content types, and clear texts for what is no admission request. */
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

/** The API server keeps idle connections for 90 s; closing one later than it does avoids a request that meets a closing socket. */
const keepAliveMs = 120_000
/** The API server sends some twenty headers. */
const maxHeaderBytes = 16 * 1024
/** How long a sender may take for the headers and for the whole request, and how often Node looks for those that take longer. */
const slowSenders = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 }

export type HttpsApp = FastifyInstance<Server>

interface HttpOptions {
  readonly tls: { readonly cert: string; readonly key: string } & TlsLimits
  readonly maxBodyBytes: number
  readonly budget: MemoryBudget
  readonly clock: Clock
  readonly logger: Logger
  /** Asked for each answer: whether the connection is to end with it. */
  readonly draining: () => boolean
  /** The paths that are served, with POST alone. */
  readonly paths: ReadonlySet<string>
  /** Told of each request to a path that is served that is not reviewed: why, as an HTTP status, and with which one it is answered. */
  readonly onRefused?: (path: string, code: number, status: number) => void
  /** Other limits for slow senders than the usual ones; for tests. */
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
    // A request that arrives on an open connection while the server closes is answered like any other.
    return503OnClosing: false,
  }) as unknown as HttpsApp

  // What a connection carried beside the request that ended it is for nobody.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.raw.socket.destroyed) reply.hijack()
    else next()
  })
  // In this hook, not in a handler for unknown paths, so that their bodies are never read.
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
