/** `createWebhookServer`: the HTTPS server for the API server's admission and conversion calls. */
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
  /** The client of webhooks without one of their own. */
  readonly client: Client
  /** The source of `context.cache`. */
  readonly cache?: ProcessCache | undefined
  readonly certificates: CertificateSource
  /** Default: all addresses. */
  readonly host?: string
  /** Default 9443; 0 takes any free port. */
  readonly port?: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook' | 'conversion' | 'observeBytesInFlight'>
  readonly clock?: Clock
  /** Default 7 MiB. */
  readonly maxBodyBytes?: number
  /**
   * Share of allowed reviews that are logged, from 0 (none, the default) to 1 (all), sampled by their uid. Denied and failed reviews are
   * always logged.
   */
  readonly reviewLogSampling?: number
  /** Memory limits of requests, connections and threads. Default: shares of the memory limit of the container. */
  readonly memory?: MemoryShares
  /** Evaluation on the main thread and in worker threads. Default: threads with their share of `memory`. */
  readonly evaluation?: EvaluatorOptions
}

export interface WebhookServer {
  /** For tests without a socket: `app.inject(…)`. */
  readonly app: FastifyInstance
  /** The served paths. */
  readonly paths: readonly string[]
  /** Number of unanswered requests. */
  readonly inFlight: number
  /** The part of `memory.requestBytes` in use. */
  readonly inFlightBytes: number
  start(): Promise<{ port: number; url: string }>
  /**
   * From now on every response closes its connection, so that the client connects to another replica; new connections are still accepted.
   */
  beginDrain(): void
  /** Stops accepting connections, lets requests in flight finish, and aborts the rest after `deadlineMs`. */
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
      // The time in which the request arrived is subtracted from the handlers' deadline.
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
    // A new context replaces the old one entirely: omitted options are reset to their defaults.
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
      // The certificate may have been rotated since the server was created.
      app.server.setSecureContext({ ...pairOf(certificates.current()), ...tls })
      unsubscribe = certificates.onChange(swap)
      compileSchemas([...webhooks.flatMap(({ schemaKind }) => schemaKind ?? []), ...conversions.map(({ kind }) => kind)])
      await app.ready()
      const address = await listen(app.server, options.port ?? 9443, options.host)
      // A connection that cannot be accepted, for example for lack of file descriptors, must not end the process.
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

/** Compiles before the first request, which would otherwise wait for it. */
function compileSchemas(kinds: readonly Kind[]): void {
  for (const kind of new Set(kinds)) for (const { name, served } of kind.versions) if (served) schemaOf(kind, name).validate({})
}

/** Creates the routes of all mutating and validating webhooks, by path. */
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

/** Logs the TLS alert of a client that rejects the certificate: the only symptom of a wrong `caBundle`. */
function explainHandshake(error: NodeJS.ErrnoException, logger: Logger): void {
  const untrusted = /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)/.test(error.code ?? '')
  if (untrusted)
    logger.warn('a client does not trust the certificate of the webhook server: is the caBundle of the webhook configurations current?')
  else logger.debug({ code: error.code }, 'a TLS handshake failed')
}
