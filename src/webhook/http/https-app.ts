/** The HTTP layer of the webhook server: limits, content types, and the responses to requests that contain no valid review. */
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
  /** Returns whether the server closes the connection after the response. Called for each response. */
  readonly draining: () => boolean
  /**
   * The paths that are served. A request to any other path is answered with 404. A request to a served path with a method other than POST
   * is answered with 405.
   */
  readonly paths: ReadonlySet<string>
  /**
   * Called when a request to a served path fails with an error, for example because the body of the request is rejected. Not called for a
   * route that has its own error handler. Not called for the responses 404 and 405 that are described at `paths`.
   *
   * `code` and `status` are always equal: each is the HTTP status code of the response. `code` is for the metric of refused requests, and
   * `status` is for the metric of all responses.
   */
  readonly onRefused?: (path: string, code: number, status: number) => void
  /** Time limits that replace `slowSenders`, for tests. */
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
    keepAliveTimeout: keepAliveMs,
    requestTimeout: limits.requestMs,
  }) as unknown as HttpsApp

  // `Connections` may have closed the connection after an earlier pipelined request. Further requests that the connection had already
  // received are ignored.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.raw.socket.destroyed) reply.hijack()
    else next()
  })
  // Unknown paths are rejected in this hook, because fastify calls a not-found handler only after the body has been read.
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
