/** `createWebhookServer`: the HTTPS server that the API server asks before it stores an object. */
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../api/clock.ts'
import { systemClock } from '../api/clock.ts'
import { ProreusError } from '../api/errors.ts'
import type { CertificateSource, ServingCertificate } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Route } from './admission-route.ts'
import { admissionRoute } from './admission-route.ts'
import { Connections } from './connections.ts'
import { ByteBudget } from './body/budget.ts'
import { ReviewThreads } from './body/review-threads.ts'
import { reviewedApart } from './body/reviewed-apart.ts'
import type { WebhookDefinition } from './definition.ts'
import { createHttpApp, maxReviewBytes, minTlsVersion } from './http.ts'
import { listen } from './listen.ts'
import { mutatingHandler } from './mutating.ts'
import { mutatePath, validatePath } from './paths.ts'
import { validatingHandler } from './validating.ts'

export interface WebhookServerOptions {
  readonly webhooks: readonly WebhookDefinition[]
  readonly client: Client
  readonly certificates: CertificateSource
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free one. */
  readonly port?: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook'>
  readonly clock?: Clock
  /** Default 7 MiB. */
  readonly maxBodyBytes?: number
  /** How much of the bodies of all requests that wait for an answer may be in memory; more is answered with 429. Default 64 MiB. */
  readonly maxInFlightBytes?: number
}

export interface WebhookServer {
  /** For tests without a socket: `app.inject(…)`. */
  readonly app: FastifyInstance
  /** The paths that are served. */
  readonly paths: readonly string[]
  /** Requests that wait for an answer. */
  readonly inFlight: number
  /** What their bodies take of `maxInFlightBytes`. */
  readonly inFlightBytes: number
  start(): Promise<{ port: number; url: string }>
  /** From now on every answer ends its connection, so that its sender goes elsewhere; new connections are still accepted. */
  beginDrain(): void
  /** Stops accepting, finishes what is in flight, and ends the rest after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>
}

export function createWebhookServer(options: WebhookServerOptions): WebhookServer {
  const { certificates, logger, clock = systemClock, maxBodyBytes = maxReviewBytes } = options
  const budget = new ByteBudget(options.maxInFlightBytes)
  const threads = new ReviewThreads(() => options.webhooks, clock)
  const routes = createRoutes(options, clock, threads)
  let draining = false
  const app = createHttpApp({
    tls: certificates.current(),
    maxBodyBytes,
    budget,
    logger,
    draining: () => draining,
    paths: new Set(routes.keys()),
  })
  for (const [path, route] of routes) {
    app.post<{ Querystring: { timeout?: string } }>(path, async (request, reply) => {
      const onClose = (listener: () => void): void => void reply.raw.once('close', () => !reply.raw.writableFinished && listener())
      const text = await route(request.body, request.query.timeout, onClose)
      return reply.type('application/json').send(text)
    })
  }
  const connections = new Connections(app.server, clock)
  app.server.on('tlsClientError', (error: NodeJS.ErrnoException) => explainHandshake(error, logger))

  const swap = ({ cert, key, notAfter }: ServingCertificate): void => {
    // The new context replaces the whole old one: what is not named again is back at its default.
    app.server.setSecureContext({ cert, key, minVersion: minTlsVersion })
    logger.info({ notAfter: notAfter.toISOString() }, 'the webhook server presents a new certificate')
  }
  let unsubscribe: (() => void) | undefined
  let stopping: Promise<void> | undefined

  return {
    app: app as unknown as FastifyInstance,
    paths: [...routes.keys()],
    get inFlight() {
      return connections.inFlight
    },
    get inFlightBytes() {
      return budget.used
    },
    async start() {
      // The certificate may have changed since this server was made.
      app.server.setSecureContext({ ...pairOf(certificates.current()), minVersion: minTlsVersion })
      unsubscribe = certificates.onChange(swap)
      compileSchemas(options.webhooks)
      await app.ready()
      const address = await listen(app.server, options.port ?? 9443, options.host)
      // A connection that cannot be accepted, e.g. for want of file descriptors, must not end the process.
      app.server.on('error', (error) => logger.warn({ err: error }, 'the webhook server could not accept a connection'))
      logger.info({ port: address.port, paths: [...routes.keys()] }, 'the webhook server listens')
      return address
    },
    beginDrain() {
      draining = true
    },
    stop(deadlineMs) {
      draining = true
      stopping ??= connections.stop(deadlineMs).then(async () => {
        unsubscribe?.()
        await threads.stop()
        await app.close()
      })
      return stopping
    },
  }
}

function pairOf({ cert, key }: ServingCertificate): { cert: string; key: string } {
  return { cert, key }
}

/** The first request is not to wait for what compiling a schema takes. */
function compileSchemas(webhooks: readonly WebhookDefinition[]): void {
  for (const { kind } of webhooks) {
    for (const { name, served } of kind.versions) if (served) schemaOf(kind, name).validate({})
  }
}

/** Both webhooks of every served version of every kind, by path. */
function createRoutes(
  { webhooks, client, logger, metrics }: WebhookServerOptions,
  clock: Clock,
  threads: ReviewThreads,
): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>()
  for (const [index, definition] of webhooks.entries()) {
    const { group, kind, versions } = definition.kind
    for (const { name: version, served } of versions) {
      if (!served) continue
      const type = { group, version, kind }
      const handlers = [
        [mutatePath(type), 'mutate', mutatingHandler(definition, version)],
        [validatePath(type), 'validate', validatingHandler(definition, version)],
      ] as const
      for (const [path, verb, direct] of handlers) {
        if (routes.has(path))
          throw new ProreusError('PRO_CONFIG_INVALID', `There are two webhooks for ${kind}.${group}: define one with all handlers.`)
        const handler = reviewedApart(direct, {
          threads,
          webhook: index,
          version,
          verb,
          handlers: definition.handlersOf(version),
          tellsAll: verb === 'validate' || definition.refuseInvalidEarly,
        })
        routes.set(path, admissionRoute({ path, type, handler, client, clock, logger, metrics: metrics.webhook(path) }))
      }
    }
  }
  return routes
}

/** A client that refuses the certificate says so by an alert: the one sign of a `caBundle` that does not fit. */
function explainHandshake(error: NodeJS.ErrnoException, logger: Logger): void {
  const untrusted = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
  if (untrusted)
    logger.warn('a client does not trust the certificate of the webhook server: is the caBundle of the webhook configurations current?')
  else logger.debug({ code: error.code }, 'a TLS handshake failed')
}
