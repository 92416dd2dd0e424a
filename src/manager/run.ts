/** `run`: starts operators in the required order, and stops them gracefully. */
import { totalmem } from 'node:os'
import type { ControllerCache, ControllerEnvironment } from '../controller/prepared-controller.ts'
import type { CertificateSource } from '../certs/serving-certificate.ts'
import type { Client } from '../client/client.ts'
import type { CacheOptions } from '../cache/cache.ts'
import type { BackgroundTask } from './background.ts'
import type { OpenOptions } from './certificates.ts'
import type { Operator } from './operator.ts'
import type { PermissionOptions } from './permissions.ts'
import type { CompleteOptions, Endpoints, RunOptions } from './run-options.ts'
import type { Running } from './running-parts.ts'
import { aborted } from '../runtime/waiting.ts'
import { limitHeapSize } from '../runtime/heap-size.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import { Cache } from '../cache/cache.ts'
import { injectCaBundle } from '../certs/injector.ts'
import { clientOver } from '../client/client.ts'
import { createTransport } from '../client/transport.ts'
import { userAgentOf } from '../client/user-agent.ts'
import { ConcurrencyLimit } from '../controller/concurrency-limit.ts'
import { runController } from '../controller/run-controller.ts'
import type { LeaderElectorOptions } from '../leader-election/leader-elector.ts'
import { LeaderElector } from '../leader-election/leader-elector.ts'
import { createWebhookServer } from '../webhook/server.ts'
import { warningLog } from './api-warnings.ts'
import { inBackground } from './background.ts'
import { certificateNames, openCertificates } from './certificates.ts'
import { drain } from './drain.ts'
import type { Election } from './leader-election.ts'
import { createElection } from './leader-election.ts'
import { identitiesOf } from './operator-identity.ts'
import { checkOperators, convertedDefinitions } from './operator.ts'
import { checkPermissions } from './permissions.ts'
import { refuseSharedAddress, startProbes } from './probe-server.ts'
import { checkRunOptions } from './run-option-checks.ts'
import { withDefaults } from './run-options.ts'
import { memoryFor } from './webhook-memory.ts'
import { livenessChecks, readinessChecks } from './readiness-and-liveness.ts'
import { checkSharedKinds } from './shared-kinds.ts'
import { releaseStartMemory } from './start-memory.ts'
import { onTermination } from './termination.ts'
import type { MonitoringOptions } from './monitoring-endpoints.ts'
import { startMonitoring } from './monitoring-endpoints.ts'
import { containerLimitBytes } from '../webhook/http/memory-shares.ts'
import { toggleDebugOnSignal } from './log-level.ts'
import { withTimeLimit } from './operator-checks.ts'
import { startRunnable } from './runnable-task.ts'
import { webhookCheck } from './webhook-check.ts'

export type { CertificateOptions } from './certificates.ts'
export type { Endpoints, InjectionTargets, RunOptions, WebhookOptions } from './run-options.ts'

/**
 * Runs operators: serves their webhooks, renews the certificates and reconciles. The graceful shutdown begins when `signal` aborts. Without
 * `signal`, the shutdown begins when the process receives SIGTERM or SIGINT. Resolves after the shutdown.
 *
 * After the start:
 *
 * - If a CRD is missing or the API server is unreachable, the process continues to run and retries.
 * - If a controller fails, the error is logged and the liveness probe fails. Only a restart of the process starts the controller again.
 *
 * @example
 * await run([operator], { connection: await loadConnection({ env: process.env }) })
 *
 * @throws {ProreusError} when the start fails: `PRO_PORT_IN_USE`, `PRO_CERTIFICATE`, `PRO_PERMISSION`, `PRO_API_UNREACHABLE`, or
 *   `PRO_CONFIG_INVALID`. The code is `PRO_CONFIG_INVALID`, for example, when an option is invalid or unknown, or when the list of
 *   operators is empty. If several options are invalid or unknown, one error can report all of them.
 */
export function run(operators: readonly Operator[], options: RunOptions): Promise<void> {
  return runWith(realParts, operators, options)
}

/**
 * The functions that create the transport, the cache, the webhook server and the other components of the process. Tests replace these
 * functions.
 * @internal
 */
export interface Parts {
  readonly createTransport: typeof createTransport
  readonly checkPermissions: (options: PermissionOptions) => Promise<void>
  readonly openCertificates: (options: OpenOptions) => Promise<CertificateSource>
  readonly createWebhookServer: typeof createWebhookServer
  readonly injectCaBundle: typeof injectCaBundle
  readonly createCache: (client: Client, options: CacheOptions) => OwnCache
  readonly createElector: (options: LeaderElectorOptions) => Election
}

type OwnCache = ControllerCache & Pick<Cache, 'start' | 'status'>

/** @internal */
export const realParts: Parts = {
  createTransport,
  checkPermissions,
  openCertificates,
  createWebhookServer,
  injectCaBundle,
  createCache: (client, options) => new Cache(client, options),
  createElector: (options) => new LeaderElector(options),
}

/** The options of `run`, with a `signal` that is always defined. The default `signal` aborts on SIGTERM and SIGINT. */
type UntilAborted = CompleteOptions & { readonly signal: AbortSignal }

/** Time limit in milliseconds for requests that are in progress when the start fails. A longer wait would only delay the error. */
const failedStartDeadlineMs = 5_000

/**
 * Starts all components, waits until the signal aborts, and stops them. When the start fails, the components that have started are stopped,
 * and the promise rejects.
 * @internal
 */
export async function runWith(parts: Parts, given: readonly Operator[], runOptions: RunOptions): Promise<void> {
  checkRunOptions(runOptions)
  if (!Array.isArray(given) || given.length === 0)
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      'There are no operators to run: pass a list of one or more, each made by defineOperator, to run(), or name their files with --operators.',
    )
  checkOperators(given)
  checkSharedKinds(given)
  const { enableWebhooks = true } = runOptions
  const operators = enableWebhooks ? given : given.map((operator) => ({ ...operator, webhooks: [], conversions: [] }))
  const options = withDefaults(operators, runOptions)
  const removals = options.saveMemory ? [limitHeapSize()] : []
  let { signal } = options
  if (signal === undefined) {
    const termination = onTermination(options.logger)
    signal = termination.signal
    removals.push(toggleDebugOnSignal(options.logger), () => termination.release())
  }
  try {
    await runUntil(signal, operators, options, parts)
  } finally {
    removals.forEach((remove) => remove())
  }
}

async function runUntil(signal: AbortSignal, operators: readonly Operator[], given: CompleteOptions, parts: Parts): Promise<void> {
  const options = { ...given, signal }
  const { clock, random, logger, metrics, instance, connection, names } = options
  const [only, another] = operators
  const transport = parts.createTransport(connection, {
    clock,
    random,
    userAgent: userAgentOf({ name: names.installation, version: another === undefined ? only?.version : undefined }),
    onRequest: (report) => metrics.clientRequest(report),
    onWarning: warningLog(logger, clock),
  })
  const election = createElection(options, transport, parts.createElector)
  const running: Running = {
    client: clientOver(transport, { fieldManager: names.installation }),
    identities: identitiesOf(operators, transport, { instance, logger, clock, random, guard: election?.elector.guard }),
    election,
    draining: false,
    controllers: new Map(),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: {
      healthz: operators.flatMap(({ checks }) => checks.healthz).map((check) => withTimeLimit(check, clock)),
      readyz: operators.flatMap(({ checks }) => checks.readyz).map((check) => withTimeLimit(check, clock)),
    },
  }
  try {
    await start(operators, options, parts, running)
  } catch (error) {
    await drain(running, { delayMs: 0, deadlineMs: failedStartDeadlineMs, clock, logger })
    if (signal.aborted) return
    throw error
  }
  if (options.saveMemory) void releaseStartMemory({ clock, signal })
  await aborted(signal)
  logger.info({ reason: messageOf(signal.reason) }, 'stopping')
  await drain(running, { delayMs: options.drainDelayMs, deadlineMs: options.drainDeadlineMs, clock, logger })
}

/**
 * Starts the components in order. The probes start first, so `/readyz` reports "not ready" from the beginning. The webhooks start before
 * the cache, because the API server may have to call the conversion webhook when it handles a list request of the cache. The cache starts
 * before the controllers, which wait until the cache has synced.
 */
async function start(operators: readonly Operator[], options: UntilAborted, parts: Parts, running: Running): Promise<void> {
  const { signal, metrics, clock, logger, connection, namespaces } = options
  const hasWebhooks = operators.some(({ webhooks, conversions }) => webhooks.length + conversions.length > 0)
  const { probeBindAddress } = options
  const metricsBindAddress = options.metricsSecure ? '0' : options.metricsBindAddress
  refuseSharedAddress(options)
  running.probes = await startProbes({
    probeBindAddress,
    metricsBindAddress,
    metrics,
    liveness: () => livenessChecks(running),
    readiness: () => readinessChecks(running, hasWebhooks),
    clock,
    logger,
  })
  signal.throwIfAborted()
  await parts.checkPermissions({ operators, client: running.client, namespaces, connection, logger, signal })
  const cache = createCache(operators, options, parts, running)
  const webhook = hasWebhooks ? await startWebhooks(operators, cache, options, parts, running) : undefined
  running.monitoring = await startMonitoring(monitoringOptions(options, running))
  const endpoints = {
    webhook,
    probes: running.probes.probes,
    metrics: running.monitoring.metrics ?? running.probes.metrics,
    debug: running.monitoring.debug,
  }
  signal.throwIfAborted()
  await options.onServing?.(endpoints, running.client)
  signal.throwIfAborted()
  running.injection = startInjection(operators, options, parts, running)
  startCache(cache, options, running)
  if (cache !== undefined) startControllers(cache, options, running)
  if (cache !== undefined) startRunnables(cache, options, running)
  startElection(options, running)
  logger.info({ operators: operators.map(({ name }) => name), ...addresses(endpoints) }, 'started')
  await options.onStarted?.(endpoints, running.client)
}

/**
 * Creates the cache, but does not start it. The webhook server starts before the cache, and its webhooks need a cache to read from. Every
 * replica watches the types that webhooks and runnables read, even a replica that does not reconcile. Returns undefined when the operators
 * have no controllers, no runnables and no webhooks that read from the cache.
 */
function createCache(operators: readonly Operator[], options: CompleteOptions, parts: Parts, { client }: Running): OwnCache | undefined {
  const { logger, clock, random, namespaces = [] } = options
  const reads = [
    ...operators.flatMap(({ webhooks }) => webhooks.flatMap(({ settings }) => settings.reads ?? [])),
    ...operators.flatMap(({ runnables }) => runnables.flatMap((runnable) => runnable.reads ?? [])),
  ]
  if (reads.length === 0 && operators.every(({ controllers, runnables }) => controllers.length + runnables.length === 0)) return undefined
  const cache = parts.createCache(client, { logger, clock, random, namespaces })
  for (const type of reads) cache.informer(type)
  for (const { settings } of operators.flatMap(({ webhooks }) => webhooks)) {
    for (const index of settings.indexes ?? []) cache.addIndex(index)
  }
  return cache
}

async function startWebhooks(
  operators: readonly Operator[],
  cache: OwnCache | undefined,
  options: UntilAborted,
  parts: Parts,
  running: Running,
): Promise<Endpoints['webhook']> {
  const { certificates, webhook, clock, logger, metrics, signal, memoryLimitBytes } = options
  const { client, identities } = running
  const { names, ips, expected } = certificateNames(options)
  const source = await parts.openCertificates({ certificates, names, ips, client, clock, logger, signal })
  running.certificates = { source, task: inBackground('keeping the certificate fresh', (stop) => source.start(stop), logger) }
  signal.throwIfAborted()
  const { host, port, reviewLogSampling, tlsMinVersion, tlsCipherSuites } = webhook
  const server = parts.createWebhookServer({
    webhooks: [...identities].flatMap(([{ webhooks }, identity]) => webhooks.map((each) => ({ ...each, client: identity.client }))),
    conversions: operators.flatMap((operator) => operator.conversions),
    client,
    cache,
    certificates: source,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(reviewLogSampling === undefined ? {} : { reviewLogSampling }),
    ...(tlsMinVersion === undefined ? {} : { tlsMinVersion }),
    ...(tlsCipherSuites === undefined ? {} : { tlsCipherSuites }),
    memory: memoryFor(memoryLimitBytes, logger),
    logger,
    metrics,
    clock,
  })
  running.webhookServer = server
  const address = await server.start()
  running.webhookCheck = webhookCheck({ host, port: address.port, serverName: expected, certificates: source, clock })
  return { port: address.port, url: webhook.url ?? address.url, caBundle: source.current().caBundle }
}

/**
 * Starts the injection of `caBundle`. This function must be called after `onServing`, because `onServing` may install the webhook
 * configurations that the injection patches.
 */
function startInjection(
  operators: readonly Operator[],
  options: CompleteOptions,
  parts: Parts,
  { client, certificates }: Running,
): BackgroundTask | undefined {
  const { webhookConfigurations, clock, logger } = options
  const { definitions = convertedDefinitions(operators) } = webhookConfigurations
  // If the operators have conversions and no webhooks, there are no webhook configurations.
  const { mutating, validating } = operators.some(({ webhooks }) => webhooks.length > 0)
    ? webhookConfigurations
    : { mutating: [], validating: [] }
  if (certificates === undefined || mutating.length + validating.length + definitions.length === 0) return undefined
  const { source } = certificates
  return inBackground(
    'injecting caBundle',
    (stop) => parts.injectCaBundle({ client, mutating, validating, definitions, source, logger, clock }, stop),
    logger,
  )
}

function startCache(cache: OwnCache | undefined, { logger, metrics }: CompleteOptions, running: Running): void {
  if (cache === undefined) return
  metrics.observeCache(() => cache.status())
  running.cache = { task: inBackground('the cache', (stop) => cache.start(stop), logger), status: () => cache.status() }
}

function startControllers(cache: OwnCache, options: CompleteOptions, running: Running): void {
  const { logger, clock, random, metrics } = options
  const graceMs = options.drainDelayMs + options.drainDeadlineMs
  const elector = running.election?.elector
  const { maxConcurrentReconciles: most } = options
  const limited = most === undefined ? {} : { limit: new ConcurrencyLimit(most) }
  const lease = options.leaderElection === undefined ? {} : { leaseDurationMs: options.leaderElection.leaseDurationMs }
  const onQueue: ControllerEnvironment['onQueue'] = (name, queue) => running.queues.set(name, queue)
  for (const [{ controllers }, { client, leaderClient, events }] of running.identities) {
    for (const controller of controllers) {
      const { name, everyReplica } = controller
      const own = everyReplica ? client : leaderClient
      const environment: ControllerEnvironment = {
        client: own,
        cache,
        logger,
        metrics,
        clock,
        random,
        events,
        graceMs,
        onQueue,
        ...limited,
        ...lease,
      }
      const terms = everyReplica ? undefined : elector
      const task = (stop: AbortSignal): Promise<void> => runController(controller, environment, stop, terms)
      running.controllers.set(name, inBackground(`the controller ${name}`, task, logger))
    }
  }
}

function startRunnables(cache: OwnCache, { logger, clock, metrics }: CompleteOptions, running: Running): void {
  const terms = running.election?.elector
  for (const [{ runnables }, { client, leaderClient }] of running.identities) {
    for (const runnable of runnables) {
      const own = runnable.everyReplica === true ? client : leaderClient
      running.runnables.set(runnable.name, startRunnable(runnable, { client: own, cache, logger, clock, metrics, terms }))
    }
  }
}

function startElection({ logger }: CompleteOptions, running: Running): void {
  const elector = running.election?.elector
  if (elector !== undefined) running.electionTask = inBackground('the leader election', (stop) => elector.run(stop), logger)
}

/**
 * Returns the options of the servers for metrics and debugging. These servers start after the webhook server, because they share its
 * certificates.
 */
function monitoringOptions(options: CompleteOptions, running: Running): MonitoringOptions {
  const { metricsBindAddress, metricsSecure, metricsCertDir, debugBindAddress, metrics, clock, logger, webhook, memoryLimitBytes } = options
  const { tlsMinVersion, tlsCipherSuites } = webhook
  const { names, ips } = certificateNames(options)
  return {
    metricsBindAddress: metricsSecure ? metricsBindAddress : '0',
    debugBindAddress,
    certDir: metricsCertDir,
    certificates: running.certificates?.source,
    names,
    ips,
    tls: { ...(tlsMinVersion !== undefined && { tlsMinVersion }), ...(tlsCipherSuites !== undefined && { tlsCipherSuites }) },
    metrics,
    debug: {
      queues: () => running.queues,
      cache: () => running.cache?.status() ?? [],
      memoryLimitBytes: memoryLimitBytes ?? containerLimitBytes() ?? totalmem(),
    },
    client: running.client,
    clock,
    logger,
  }
}

function addresses({ webhook, probes, metrics, debug }: Endpoints): object {
  return { webhookPort: webhook?.port, probePort: probes?.port, metricsPort: metrics?.port, debugPort: debug?.port }
}
