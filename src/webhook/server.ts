/** `createWebhookServer`: the HTTPS server that the API server asks before it stores an object. */
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../api/clock.ts'
import { systemClock } from '../api/clock.ts'
import type { Kind } from '../api/kind.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { CertificateSource, ServingCertificate } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { sampler } from '../telemetry/sampling.ts'
import { AccessReviews } from './access.ts'
import type { ProcessCache } from './admission-cache.ts'
import { AdmissionCache } from './admission-cache.ts'
import type { Route } from './admission-route.ts'
import { admissionRoute } from './admission-route.ts'
import type { CombinedWebhook, OperatorWebhook } from './combine.ts'
import { combineWebhooks } from './combine.ts'
import { Connections, usualConnectionLimits } from './connections.ts'
import { MemoryBudget } from './body/budget.ts'
import { receivedOf } from './body/receive.ts'
import { sendAnswer } from './body/send.ts'
import { serveConversions } from './conversion-route.ts'
import { timeoutLeft } from './deadline.ts'
import type { EvaluatorOptions } from './evaluation/evaluators.ts'
import { Evaluators } from './evaluation/evaluators.ts'
import { createHttpApp, maxReviewBytes } from './http.ts'
import { listen } from './listen.ts'
import type { MemoryShares } from './memory.ts'
import { processMemory, shareMemory } from './memory.ts'
import { mutatingHandler } from './mutating.ts'
import { conversionPath } from './paths.ts'
import { awaitFetching, whenSenderGoes } from './sender.ts'
import { mismatchAt } from './target.ts'
import type { TlsOptions } from './tls.ts'
import { tlsLimits } from './tls.ts'
import { validatingHandler } from './validating.ts'

export interface WebhookServerOptions extends TlsOptions {
  readonly webhooks: readonly OperatorWebhook[]
  /** Default: none, and no `/convert`. */
  readonly conversions?: readonly ConversionDefinition[]
  /** For the handlers of webhooks without one of their own. */
  readonly client: Client
  /** What handlers read through `context.cache`. */
  readonly cache?: ProcessCache | undefined
  readonly certificates: CertificateSource
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free one. */
  readonly port?: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook' | 'conversion' | 'observeBytesInFlight'>
  readonly clock?: Clock
  /** Default 7 MiB. */
  readonly maxBodyBytes?: number
  /**
   * The share of allowed reviews that get a log line, from 0 (none, the default) to 1 (all); which ones, their uid decides.
   * Those that are denied or fail are logged in any case.
   */
  readonly reviewLogSampling?: number
  /** What requests, connections and threads may take of the memory. Default: shares of the memory limit of the container. */
  readonly memory?: MemoryShares
  /** Where reviews are evaluated. Default: threads with their share of `memory`. */
  readonly evaluation?: EvaluatorOptions
}

export interface WebhookServer {
  /** For tests without a socket: `app.inject(…)`. */
  readonly app: FastifyInstance
  /** The paths that are served. */
  readonly paths: readonly string[]
  /** Requests that wait for an answer. */
  readonly inFlight: number
  /** What they take of `memory.requestBytes`. */
  readonly inFlightBytes: number
  start(): Promise<{ port: number; url: string }>
  /** From now on every answer ends its connection, so that its sender goes elsewhere; new connections are still accepted. */
  beginDrain(): void
  /** Stops accepting, finishes what is in flight, and ends the rest after `deadlineMs`. */
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
      const onClose = (listener: () => void): void => whenSenderGoes(reply.raw, listener)
      const received = receivedOf(request)
      // What it took to arrive is not there for the handlers any more.
      const timeout = timeoutLeft(request.query.timeout, received === undefined ? 0 : clock.monotonicNow() - received.began)
      const answer = route(request.body as Buffer | undefined, timeout, onClose, request.headers)
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
    // The new context replaces the whole old one: what is not named again is back at its default.
    app.server.setSecureContext({ cert, key, ...tls })
    logger.info({ notAfter: notAfter.toISOString() }, 'the webhook server presents a new certificate')
  }
  let unsubscribe: (() => void) | undefined
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
      // The certificate may have changed since this server was made.
      app.server.setSecureContext({ ...pairOf(certificates.current()), ...tls })
      unsubscribe = certificates.onChange(swap)
      compileSchemas([...webhooks.flatMap(({ schemaKind }) => schemaKind ?? []), ...conversions.map(({ kind }) => kind)])
      await app.ready()
      const address = await listen(app.server, options.port ?? 9443, options.host)
      // A connection that cannot be accepted, e.g. for want of file descriptors, must not end the process.
      app.server.on('error', (error) => logger.warn({ err: error }, 'the webhook server could not accept a connection'))
      logger.info({ port: address.port, paths }, 'the webhook server listens')
      return address
    },
    beginDrain() {
      draining = true
    },
    stop(deadlineMs) {
      draining = true
      stopping ??= connections.stop(deadlineMs).then(async () => {
        unsubscribe?.()
        await evaluators.stop()
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
function compileSchemas(kinds: readonly Kind[]): void {
  for (const kind of new Set(kinds)) for (const { name, served } of kind.versions) if (served) schemaOf(kind, name).validate({})
}

/** The mutating and the validating webhook of everything that has them, by path. */
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

/** A client that refuses the certificate says so by an alert: the one sign of a `caBundle` that does not fit. */
function explainHandshake(error: NodeJS.ErrnoException, logger: Logger): void {
  const untrusted = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
  if (untrusted)
    logger.warn('a client does not trust the certificate of the webhook server: is the caBundle of the webhook configurations current?')
  else logger.debug({ code: error.code }, 'a TLS handshake failed')
}
