/** `createWebhookServer`: creates the HTTPS server that the API server calls for admission and conversion. */
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../runtime/clock.ts'
import { systemClock } from '../runtime/clock.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { CertificateSource, ServingCertificate } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { sampler } from '../telemetry/sampling.ts'
import { AccessReviews } from './handlers/requester-access.ts'
import type { ProcessCache } from './handlers/admission-cache.ts'
import { AdmissionCache } from './handlers/admission-cache.ts'
import type { Route } from './admission-route.ts'
import { admissionRoute } from './admission-route.ts'
import { compileBuiltinTypes, compileSchemas } from './compile-schemas.ts'
import type { CombinedWebhook, OperatorWebhook } from './definition/combine.ts'
import { combineWebhooks } from './definition/combine.ts'
import { Connections } from './http/connections.ts'
import { maxReviewBytes, usualConnectionLimits } from './http/limits.ts'
import { MemoryBudget } from './body/memory-budget.ts'
import { receivedOf } from './body/receive.ts'
import { sendAnswer } from './body/send.ts'
import { serveConversions } from './conversion-route.ts'
import { deadlineFrom } from './review/handler-deadline.ts'
import type { EvaluatorOptions } from './evaluation/evaluators.ts'
import { Evaluators } from './evaluation/evaluators.ts'
import { createHttpApp } from './http/https-app.ts'
import { listen, urlHost } from '../runtime/listen.ts'
import type { MemoryShares } from './http/memory-shares.ts'
import { processMemory, shareMemory } from './http/memory-shares.ts'
import { mutatingHandler } from './handlers/mutating.ts'
import { conversionPath } from './definition/paths.ts'
import { awaitFetching, onDisconnect } from './http/connections.ts'
import { mismatchAt } from './review/target.ts'
import type { TlsOptions } from './http/tls.ts'
import { tlsLimits } from './http/tls.ts'
import { validatingHandler } from './handlers/validating.ts'

export interface WebhookServerOptions extends TlsOptions {
  readonly webhooks: readonly OperatorWebhook[]
  /** The conversions of kinds. If there are none, `/convert` is not served. */
  readonly conversions?: readonly ConversionDefinition[]
  /** The client for the handlers of webhooks that have no `client` of their own. */
  readonly client: Client
  /** The cache of the process. Handlers read it through `context.cache`. */
  readonly cache?: ProcessCache | undefined
  readonly certificates: CertificateSource
  /** The address on which the server listens. Default: all addresses. */
  readonly host?: string
  /** The port on which the server listens. Default 9443; with 0, the system chooses a free port. */
  readonly port?: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook' | 'conversion' | 'observeBytesInFlight'>
  readonly clock?: Clock
  /** Maximum size of the body of an AdmissionReview in bytes. Default 7 MiB. */
  readonly maxBodyBytes?: number
  /**
   * The fraction of allowed reviews that are logged at level `info`, from 0 (none, the default) to 1 (all). The uid of a request determines
   * whether its review is logged. Denied and failed reviews are always logged.
   */
  readonly reviewLogSampling?: number
  /** The memory limits of requests, connections and worker threads. Default: derived from the memory limit of the container. */
  readonly memory?: MemoryShares
  /**
   * The options for evaluating reviews on the main thread and in worker threads. The defaults for the worker threads are in
   * `memory.threads`.
   */
  readonly evaluation?: EvaluatorOptions
}

export interface WebhookServer {
  /** The fastify app, on which tests call `app.inject(…)` without opening a socket. */
  readonly app: FastifyInstance
  /** The paths that the server serves. */
  readonly paths: readonly string[]
  /** The number of unanswered requests. */
  readonly inFlight: number
  /** The memory in bytes that requests in flight use. The limit is `memory.requestBytes`. */
  readonly inFlightBytes: number
  start(): Promise<{ port: number; url: string }>
  /**
   * Makes the server close each connection after its next response, so that the client connects to another replica. New connections are
   * still accepted.
   */
  beginDrain(): void
  /**
   * Stops accepting connections and lets requests in flight finish. After `deadlineMs` milliseconds, aborts the requests that are still in
   * flight.
   */
  stop(deadlineMs: number): Promise<void>
}

export function createWebhookServer(options: WebhookServerOptions): WebhookServer {
  const { certificates, logger, metrics, conversions = [], clock = systemClock, maxBodyBytes = maxReviewBytes } = options
  const { memory = shareMemory(processMemory()) } = options
  const budget = new MemoryBudget({ total: memory.requestBytes, reserve: memory.reserveBytes, clock })
  const tls = tlsLimits(options)
  metrics.observeBytesInFlight(() => budget.used, budget.total)
  const webhooks = combineWebhooks(options.webhooks)
  const evaluators = new Evaluators(webhooks, clock, {
    threads: memory.threads.count,
    maxOldGenerationSizeMb: memory.threads.heapMegabytes,
    ...options.evaluation,
  })
  const routes = createRoutes(webhooks, options, clock, evaluators)
  const paths = [...routes.keys(), ...(conversions.length > 0 ? [conversionPath] : [])]
  let draining = false
  const app = createHttpApp({
    tls: { ...pairOf(certificates.current()), ...tls },
    maxBodyBytes,
    budget,
    clock,
    logger,
    draining: () => draining,
    paths: new Set(paths),
    onRefused: (path, code, status) => metrics.webhook(path).refused(code, status),
  })
  serveConversions(app, { conversions, clock, logger, metrics, budget, maxBytes: memory.conversionBytes })
  for (const [path, route] of routes) {
    app.post<{ Querystring: { timeout?: string } }>(path, (request, reply) => {
      const onClose = (listener: () => void): void => onDisconnect(reply.raw, listener)
      const received = receivedOf(request)
      // The time that the request took to arrive is subtracted from the deadline of the handlers.
      const passedMs = received === undefined ? 0 : clock.monotonicNow() - received.began
      const deadlineMs = deadlineFrom(request.query.timeout, passedMs)
      const answer = route(request.body as Buffer | undefined, deadlineMs, onClose, request.headers)
      const send = (ready: string | Buffer): unknown => {
        if (received !== undefined) awaitFetching(received.charge, ready.length, ready.length, reply.raw)
        return sendAnswer(reply, ready)
      }
      if (answer instanceof Promise) answer.then(send, (error: unknown) => reply.send(error))
      else send(answer)
    })
  }
  const connections = new Connections(app.server, clock, { ...usualConnectionLimits, connections: memory.connections })
  app.server.on('tlsClientError', (error: NodeJS.ErrnoException) => explainHandshake(error, logger))

  const swap = ({ cert, key, notAfter }: ServingCertificate): void => {
    // `setSecureContext` replaces all TLS options: an omitted option would be reset to the default of Node.js.
    app.server.setSecureContext({ cert, key, ...tls })
    logger.info({ notAfter: notAfter.toISOString() }, 'the webhook server presents a new certificate')
  }
  let unsubscribe: (() => void) | undefined
  let stopCompiling: (() => void) | undefined
  let stopping: Promise<void> | undefined

  return {
    app: app as unknown as FastifyInstance,
    paths,
    get inFlight() {
      return connections.inFlight
    },
    get inFlightBytes() {
      return budget.used
    },
    async start() {
      // The certificate may have been rotated after the server was created.
      app.server.setSecureContext({ ...pairOf(certificates.current()), ...tls })
      unsubscribe = certificates.onChange(swap)
      compileSchemas([...webhooks.flatMap(({ schemaKind }) => schemaKind ?? []), ...conversions.map(({ kind }) => kind)])
      stopCompiling = compileBuiltinTypes(clock)
      await app.ready()
      const { host } = options
      const port = await listen(app.server, { host, port: options.port ?? 9443, flag: '--webhook-host and --webhook-port' })
      // The acceptance of a connection can fail, for example because there are no free file descriptors. Such an error must not end the
      // process.
      app.server.on('error', (error) => logger.warn({ err: error }, 'the webhook server could not accept a connection'))
      logger.info({ port, paths }, 'the webhook server listens')
      return { port, url: `https://${isAnyAddress(host) ? 'localhost' : urlHost(host)}:${port}` }
    },
    beginDrain() {
      draining = true
    },
    stop(deadlineMs) {
      draining = true
      stopping ??= connections.stop(deadlineMs).then(async () => {
        unsubscribe?.()
        stopCompiling?.()
        await evaluators.stop()
        await app.close()
      })
      return stopping
    },
  }
}

function isAnyAddress(host: string | undefined): host is '::' | '0.0.0.0' | undefined {
  return host === undefined || host === '::' || host === '0.0.0.0'
}

function pairOf({ cert, key }: ServingCertificate): { cert: string; key: string } {
  return { cert, key }
}

/** Creates the routes of all mutating and validating webhooks, keyed by their paths. */
function createRoutes(
  webhooks: readonly CombinedWebhook[],
  { client, cache, logger, metrics, reviewLogSampling = 0 }: WebhookServerOptions,
  clock: Clock,
  evaluators: Evaluators,
): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>()
  const environment = {
    client,
    cache: new AdmissionCache(cache),
    access: new AccessReviews(clock),
    clock,
    logger,
    sampled: sampler(reviewLogSampling),
  }
  for (const webhook of webhooks) {
    const { mutating, validating, version } = webhook
    const type = { group: webhook.type.group, version, kind: webhook.type.kind }
    for (const [verb, { path, operations }, createHandler] of [
      ['mutate', mutating, mutatingHandler],
      ['validate', validating, validatingHandler],
    ] as const) {
      if (operations.length === 0) continue
      const mismatch = mismatchAt(path, webhook)
      routes.set(
        path,
        admissionRoute({
          ...environment,
          path,
          type,
          mismatch,
          evaluator: evaluators.of(webhook, verb),
          handler: createHandler(webhook),
          metrics: metrics.webhook(path, { group: type.group, kind: type.kind, operations }),
        }),
      )
    }
  }
  return routes
}

/**
 * Logs a warning when a client rejects the serving certificate with a TLS alert. A wrong `caBundle` causes such alerts. This server sees no
 * other sign of a wrong `caBundle`.
 */
function explainHandshake(error: NodeJS.ErrnoException, logger: Logger): void {
  const untrusted = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
  if (untrusted)
    logger.warn('a client does not trust the certificate of the webhook server: is the caBundle of the webhook configurations current?')
  else logger.debug({ code: error.code }, 'a TLS handshake failed')
}
