/** The HTTP layer of the webhook server: limits, content types, and responses to requests without a valid review. */
import fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { Server } from 'node:https'
import type { Logger } from '../../telemetry/logger.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { MemoryBudget } from '../body/memory-budget.ts'
import { costOf } from '../body/memory-estimate.ts'
import { receiveBodies } from '../body/receive.ts'
import { keepAliveMs, maxHeaderBytes, slowSenders } from './limits.ts'
import { refuse } from './refusal-response.ts'
import type { TlsLimits } from './tls.ts'

export type HttpsApp = FastifyInstance<Server>

interface HttpOptions {
  readonly tls: { readonly cert: string; readonly key: string } & TlsLimits
  readonly maxBodyBytes: number
  readonly budget: MemoryBudget
  readonly clock: Clock
  readonly logger: Logger
  /** Checked for each response: true closes the connection after it. */
  readonly draining: () => boolean
  /**
   * The served paths, for the responses to other requests: 404 for an unknown path, 405 for a served path with another method than POST.
   */
  readonly paths: ReadonlySet<string>
  /**
   * Called when a request to a served path fails with an error, such as a rejected body, with its HTTP status: `code` for the cause and
   * `status` for the response, which are equal here. Not called for 404 and 405.
   */
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

  // A connection that was closed for one request may have received further requests before; they are ignored.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.raw.socket.destroyed) reply.hijack()
    else next()
  })
  // Unknown paths are rejected in this hook rather than in a not-found handler, because a handler runs only after the body was read.
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
