/**
 * A cluster on a fake clock, without sockets: a registry, one node, and the controllers of a test. A simulated year takes less than a
 * minute.
 */
import type { Test } from 'tap'
import { namespace as namespaceType, node as nodeType, pod as podType } from '../../../src/api/builtin.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import { Cache } from '../../../src/cache/cache.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ControllerDefinition } from '../../../src/controller/builder.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import { runGarbageCollector } from '../../../src/devcluster/controllers/garbage-collector.ts'
import { kubelet } from '../../../src/devcluster/controllers/kubelet/kubelet.ts'
import { simulatedRuntime } from '../../../src/devcluster/controllers/kubelet/simulated/simulated-runtime.ts'
import type { ContainerRuntime } from '../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { PodAddresses } from '../../../src/devcluster/controllers/kubelet/pod-addresses.ts'
import { registerNodes } from '../../../src/devcluster/controllers/nodes/node.ts'
import { scheduler } from '../../../src/devcluster/controllers/scheduler/scheduler.ts'
import type { EventRecorder } from '../../../src/telemetry/event-recorder.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { inProcessClient } from '../devcluster/in-process-client.ts'
import { fixture } from '../devcluster/registry.ts'

/** The namespace of all objects. */
export const namespace = 'default'

export interface SimulatedCluster {
  readonly client: Client
  readonly clock: FakeClock
  /** The number of Events for each key. A key consists of the name of an object and a reason, e.g. `web SuccessfulCreate`. */
  readonly events: ReadonlyMap<string, number>
  /** Advances the clock to `time`, timer by timer. Waits at each step until the controllers have finished their work. */
  advanceTo(time: number): Promise<void>
  /** Waits until the controllers have finished their work at the current time. */
  settle(): Promise<void>
  /**
   * Advances the clock of the garbage collector and the watches by one second, so that the garbage collector does the work that is due.
   * This clock is separate from `clock`. If the garbage collector and the watches used `clock`, `advanceTo` would stop every few minutes at
   * a timer of the garbage collector or of a watch.
   */
  collectGarbage(): Promise<void>
  /** Stops the controllers. If a test does not call this function, the controllers stop at the end of the test. */
  stop(): Promise<unknown>
}

export interface SimulatedClusterOptions {
  readonly now: string
  readonly controllers?: readonly ControllerDefinition[]
  readonly types?: readonly ResourceType[]
  readonly addresses?: PodAddresses
  readonly runtime?: ContainerRuntime
  prepare?(client: Client): Promise<unknown>
}

/**
 * Starts a cluster whose clock begins at `now`. Until `stop` is called or the test ends, the cluster runs the scheduler, the kubelet, the
 * garbage collector and `controllers`.
 *
 * @param options.types the types of the workloads. The garbage collector handles these types.
 * @param options.addresses allocates the addresses of Pods. Default: addresses from 10.244.0.0/16.
 * @param options.runtime runs the containers. Default: a simulation.
 * @param options.prepare writes the objects that exist before the controllers start.
 */
export async function simulatedCluster(
  t: Test,
  { now, controllers = [], types = [], addresses, runtime = simulatedRuntime(), prepare }: SimulatedClusterOptions,
): Promise<SimulatedCluster> {
  const clock = new FakeClock(now)
  const still = new FakeClock()
  const client = inProcessClient(await fixture({ clock }))
  const logger = silentLogger()
  const stop = new AbortController()
  const cache = new Cache(client, { logger, clock: still })
  const counts = new Map<string, number>()
  const events: EventRecorder = {
    event: ({ metadata }, _type, reason) => {
      const key = `${metadata.name} ${reason}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
  }
  await registerNodes(client, [{ name: 'one' }], { now: clock.now(), version: 'v1' })
  await prepare?.(client)
  const environment = { client, cache, logger, metrics: new Metrics(), clock, events, graceMs: 0 }
  const all = [...types, podType, namespaceType, nodeType]
  const source = {
    types: () => all,
    byKind: (group: string, kind: string) => all.find((type) => type.group === group && type.kind === kind),
    onChange: () => () => undefined,
  }
  const definitions = [
    scheduler(),
    kubelet({ runtime, eventsOf: () => events, ...(addresses !== undefined && { addresses }) }),
    ...controllers,
  ]
  const running = [
    ...definitions.map((definition) => runController(definition, environment, stop.signal)),
    cache.start(stop.signal),
    runGarbageCollector({ client, source, logger, clock: still, events }, stop.signal),
  ]
  const end = (): Promise<unknown> => {
    stop.abort()
    return Promise.allSettled(running)
  }
  t.teardown(end)
  return {
    client,
    clock,
    events: counts,
    settle,
    async advanceTo(time) {
      for (;;) {
        await settle()
        const next = clock.nextDue
        if (next === undefined || next > time) break
        await clock.advance(next - clock.now())
      }
      await clock.advance(time - clock.now())
    },
    collectGarbage: () => still.advance(1000),
    stop: end,
  }
}

async function settle(): Promise<void> {
  const turns = 20
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
