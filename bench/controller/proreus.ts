/** The programs of Proreus for the controller benchmark, except the program in `noop.ts`. The first argument selects a program. */
import { createInterface } from 'node:readline'
import type { CacheReader, ControllerDefinition, DeepReadonly, Infer, ReconcileContext, RunOptions } from 'proreus'
import { apps, controllerReference, createLogger, defineController, defineOperator, hasFields, keyOf, loadConnection, run } from 'proreus'
import { app } from '../app.ts'
import { report } from './report.ts'

type App = Infer<typeof app>

/** Applies the Deployment of the App, and writes the observed generation to the status of the App. */
async function reconcile(object: DeepReadonly<App>, { cache, client }: ReconcileContext): Promise<void> {
  const key = keyOf(object)
  const wanted = deploymentFor(object)
  if (!hasFields(cache.get(apps.deployment, key), wanted)) await client.apply(apps.deployment, wanted)
  const { generation } = object.metadata
  if (object.status?.observedGeneration !== generation) await client.patchStatus(app, key, { status: { observedGeneration: generation } })
}

function deploymentFor(object: DeepReadonly<App>) {
  const { image, replicas } = object.spec
  const labels = { app: object.metadata.name }
  return {
    metadata: { ...keyOf(object), ownerReferences: [controllerReference(object)] },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image }] } },
    },
  }
}

async function runController(controller: ControllerDefinition, options: Partial<RunOptions> = {}): Promise<void> {
  await run([defineOperator({ name: 'bench', kinds: [app], controllers: [controller] })], {
    connection: await loadConnection({ env: process.env }),
    probeBindAddress: '0',
    metricsBindAddress: '0',
    logger: createLogger({ level: 'warn' }),
    ...options,
  })
}

/** Runs the reconciler until the process is terminated. */
async function reconcileApps(workers: number): Promise<void> {
  await runController(defineController(app, { owns: [apps.deployment], workers, reconcile }))
}

/** Reconciles while this process holds the Lease. Reports the time of the first reconcile in milliseconds since the Unix epoch. */
async function leadAndReconcile(namespace: string): Promise<void> {
  let isFirst = true
  const controller = defineController(app, {
    owns: [apps.deployment],
    async reconcile(object, context) {
      if (isFirst) report({ firstReconcileAt: Date.now() })
      isFirst = false
      await reconcile(object, context)
    },
  })
  await runController(controller, { leaderElection: { name: 'bench', namespace } })
}

/**
 * Reconciles without writes. For each reconcile, measures the milliseconds since the time in the App's `spec.labels.sent`. Reports these
 * latencies when the process is terminated.
 */
async function observeApps(): Promise<void> {
  const ms: number[] = []
  await runController(
    defineController(app, {
      reconcile({ spec }) {
        const now = performance.timeOrigin + performance.now()
        const sent = Number(spec.labels?.['sent'])
        if (sent > 0) ms.push(now - sent)
        return Promise.resolve()
      },
    }),
  )
  report({ ms })
}

/**
 * Reports the seconds until the cache of Apps has synced, and waits for a line on standard input. Then repeatedly gets all Apps for
 * `seconds` seconds, and reports the number of gets and the CPU seconds of the process in this time.
 */
async function cacheApps(namespace: string, count: number, seconds: number): Promise<void> {
  const began = performance.now()
  let synced = false
  const controller = defineController(app, {
    // The reconcile of one App is sufficient to measure the sync, because this reconcile starts when the cache has synced.
    predicates: [({ object }) => object.metadata.name === 'app-0'],
    async reconcile(_, { cache }) {
      if (synced) return
      synced = true
      report({ syncSeconds: (performance.now() - began) / 1000 })
      await nextLine()
      getAll(cache, namespace, count, seconds)
    },
  })
  await runController(controller)
}

function getAll(cache: CacheReader, namespace: string, count: number, seconds: number): void {
  const keys = Array.from({ length: count }, (_, index) => ({ namespace, name: `app-${index}` }))
  const before = process.cpuUsage()
  const until = performance.now() + seconds * 1000
  let gets = 0
  for (; performance.now() < until; gets += count) {
    for (const key of keys) if (cache.get(app, key) === undefined) throw new Error(`${key.name} is not in the cache.`)
  }
  const { user, system } = process.cpuUsage(before)
  report({ gets, cpuSeconds: (user + system) / 1e6 })
}

async function nextLine(): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  await new Promise((resolve) => lines.once('line', resolve))
  lines.close()
}

const [program, ...args] = process.argv.slice(2)
switch (program) {
  case 'reconcile':
    await reconcileApps(Number(args[0]))
    break
  case 'lead':
    await leadAndReconcile(args[0]!)
    break
  case 'observe':
    await observeApps()
    break
  case 'cache':
    await cacheApps(args[0]!, Number(args[1]), Number(args[2]))
    break
  default:
    throw new Error(`${program} is not a program.`)
}
