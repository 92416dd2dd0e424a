/**
 * The program of Proreus for the part `noop` of the controller benchmark. This part measures reconciles that do nothing. The measurement
 * includes the event handler and the work queue of the controller, but no API server. The arguments are `noop WORKERS SECONDS`.
 */
import type { EventHandler } from '../../src/cache/informer.ts'
import type { ControllerEnvironment } from '../../src/controller/prepared-controller.ts'
import { runController } from '../../src/controller/run-controller.ts'
import type { DeepReadonly, Infer } from 'proreus'
import { createLogger, defineController, Metrics, systemClock } from 'proreus'
import { app } from '../app.ts'
import { report } from './report.ts'

/** Number of objects. Each batch of events has one event for each object. */
const count = 10_000

/** Reports the number of reconciles in `seconds` seconds, and the CPU seconds of the process in this time. */
async function reconcileNothing(workers: number, seconds: number): Promise<void> {
  let reconciled = 0
  let batch = Promise.withResolvers<void>()
  const controller = defineController(app, {
    workers,
    reconcile() {
      reconciled += 1
      if (reconciled % count === 0) batch.resolve()
      return Promise.resolve()
    },
  })
  const objects = Array.from({ length: count }, (_, index) => objectOf(index))
  const handlers: EventHandler[] = []
  const stop = new AbortController()
  const ended = runController(controller, environmentOf(objects, handlers), stop.signal)
  const batches = async (ms: number): Promise<void> => {
    for (const until = performance.now() + ms; performance.now() < until;) {
      batch = Promise.withResolvers()
      for (const object of objects) for (const handler of handlers) handler.added?.(object, false)
      await batch.promise
    }
  }
  await batches(1_000)
  const [began, before] = [reconciled, process.cpuUsage()]
  await batches(seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  report({ reconciles: reconciled - began, cpuSeconds: (user + system) / 1e6 })
  stop.abort()
  await ended
}

type App = DeepReadonly<Infer<typeof app>>

function objectOf(index: number): App {
  const metadata = {
    namespace: 'bench',
    name: `app-${index}`,
    uid: `uid-${index}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-24T00:00:00Z',
  }
  return { apiVersion: 'bench.proreus.dev/v1', kind: 'App', metadata, spec: { image: 'registry.local/app:1' } } as App
}

/** Returns the environment of a controller whose cache contains `objects`. The event handlers of the controller are added to `handlers`. */
function environmentOf(objects: readonly App[], handlers: EventHandler[]): ControllerEnvironment {
  const byName = new Map(objects.map((object) => [object.metadata.name, object]))
  const informer = {
    type: app,
    synced: true,
    whenSynced: () => Promise.resolve(),
    addHandler(handler: EventHandler) {
      handlers.push(handler)
      return () => undefined
    },
  }
  const cache = {
    informer: () => informer,
    addIndex: () => undefined,
    namespaces: [],
    get: (_: unknown, { name }: { name: string }) => byName.get(name),
    list: () => objects,
    written: () => undefined,
    deleted: () => undefined,
  }
  return {
    cache,
    client: {},
    events: {},
    logger: createLogger({ level: 'info' }),
    metrics: new Metrics(),
    clock: systemClock,
  } as unknown as ControllerEnvironment
}

await reconcileNothing(Number(process.argv[3]), Number(process.argv[4]))
