/**
 * Tests of `PodWorker` with a scripted container runtime. Cases: a sandbox is replaced by a new one, a Pod is removed while Events of the
 * runtime are not yet recorded, and the cluster restarts.
 */
import t from 'tap'
import type { ReadonlyPod } from '../../../../src/devcluster/controllers/api-types.ts'
import type {
  ContainerRun,
  ContainerRuntime,
  PodRuntime,
  RuntimeEvent,
} from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { NodeMachine } from '../../../../src/devcluster/controllers/kubelet/node-machines.ts'
import { podStatus } from '../../../../src/devcluster/controllers/kubelet/pod-status.ts'
import { PodWorker } from '../../../../src/devcluster/controllers/kubelet/pod-worker.ts'

const never = Number.POSITIVE_INFINITY

class ScriptedRuntime implements ContainerRuntime {
  readonly scheme = 'scripted'
  readyAt = 0
  sandboxAttempt = 0
  /** For each run that is being stopped, a function that ends the run. */
  readonly ends: (() => void)[] = []
  readonly events: RuntimeEvent[] = []
  starts = 0
  /** The runs that have continued during a restart of the cluster. */
  readonly resumed: { exit: { at: number; exitCode: number } }[] = []
  /** True when the containers have continued to run during a restart of the cluster. */
  continues = false

  runPod(): PodRuntime {
    const at = (name: 'readyAt' | 'sandboxAttempt'): number => this[name]
    return {
      get readyAt() {
        return at('readyAt')
      },
      get sandboxAttempt() {
        return at('sandboxAttempt')
      },
      evictionAt: never,
      removedAt: never,
      problems: [],
      takeEvents: () => this.events.splice(0),
      update() {},
      evicted() {},
      remove() {},
      destroy: () => undefined,
      container: () => ({
        respec() {},
        hasImage: () => true,
        pull: (at) => ({ endsAt: at, error: undefined }),
        resume: (at) => (this.continues ? this.#resume(at) : undefined),
        start: (at) => this.#start(at),
      }),
    }
  }

  #resume(at: number): ContainerRun {
    const run = this.#run(at)
    this.resumed.push(run)
    return run
  }

  #start(at: number): ContainerRun {
    this.starts += 1
    return this.#run(at)
  }

  #run(at: number): ContainerRun & { exit: { at: number; exitCode: number } } {
    const exit = { at: never, exitCode: 137 }
    return {
      start: { endsAt: at, error: undefined },
      exit,
      prepareToStop() {},
      stop: (stoppedAt) => this.ends.push(() => (exit.at = stoppedAt)),
      probe: () => ({ isStarted: true, isReady: true, due: never, step: () => undefined, stopKilling() {}, end() {} }),
    }
  }
}

const containers = [{ name: 'main', image: 'x', imagePullPolicy: 'IfNotPresent' }]
const pod = { metadata: { name: 'a', namespace: 'default', uid: 'u' }, spec: { containers } } as unknown as ReadonlyPod
const workerOf = (runtime: ScriptedRuntime, of = pod): PodWorker =>
  new PodWorker(of, runtime, { machine: {} as NodeMachine, podIP: '10.244.0.2', allocatable: {}, now: 0, wake() {} })

t.test('the containers begin in the new sandbox when those of the old one have ended, also if it is ready before', async (t) => {
  const runtime = new ScriptedRuntime()
  const worker = workerOf(runtime)
  worker.advance(pod, 1000)
  t.equal(runtime.starts, 1)
  runtime.sandboxAttempt = 1
  runtime.readyAt = 1500
  worker.advance(pod, 2000)
  t.match(worker.regular[0]?.state, { kind: 'running' }, 'the end of the old container is not known yet')
  t.equal(runtime.starts, 1)
  for (const end of runtime.ends) end()
  worker.advance(pod, 3000)
  t.equal(runtime.starts, 2)
  t.match(worker.regular[0], { state: { kind: 'running' }, restartCount: 1, last: { exitCode: 137 } })
})

t.test('the last Events of the runtime are returned when the Pod is gone', async (t) => {
  const runtime = new ScriptedRuntime()
  const worker = workerOf(runtime)
  worker.advance(pod, 1000)
  runtime.events.push({ type: 'Warning', reason: 'FailedMount', message: 'no volume' })
  t.match(worker.destroy().events, [{ reason: 'FailedMount' }, { reason: 'Killing' }])
})

/** Returns the Pod with the status that it had before a restart of the cluster. */
const restarted = (state: object): ReadonlyPod =>
  ({
    ...pod,
    status: { phase: 'Running', containerStatuses: [{ name: 'main', restartCount: 1, ready: true, started: true, ...state }] },
  }) as unknown as ReadonlyPod
/** Returns the status of the condition PodReadyToStartContainers. */
const readyToStart = (worker: PodWorker): string | undefined => {
  const { conditions } = podStatus(worker, pod, { hostIP: '10.0.0.1', podIP: '10.244.0.2' }) as {
    conditions: { type: string; status: string }[]
  }
  return conditions.find(({ type }) => type === 'PodReadyToStartContainers')?.status
}

t.test('after a restart of the cluster, containers that run have a sandbox, and restart when the volumes are ready', async (t) => {
  const runtime = new ScriptedRuntime()
  Object.assign(runtime, { continues: true, readyAt: never })
  const running = restarted({ state: { running: { startedAt: '1970-01-01T00:00:00Z' } } })
  const worker = workerOf(runtime, running)
  worker.advance(running, 1000)
  t.equal(readyToStart(worker), 'True')
  runtime.resumed[0]!.exit.at = 2000
  worker.advance(running, 5000)
  t.match([worker.regular[0]?.state, readyToStart(worker)], [{ kind: 'terminated', finishedAt: 2000 }, 'True'])
  t.equal(runtime.starts, 0)
  runtime.readyAt = 6000
  worker.advance(running, 6000)
  t.match([worker.regular[0]?.state, runtime.starts], [{ kind: 'running', startedAt: 6000 }, 1])
})

t.test('after a restart of the cluster, a container that waited for its restart starts when the volumes are ready', async (t) => {
  const runtime = new ScriptedRuntime()
  runtime.readyAt = never
  const terminated = { exitCode: 1, finishedAt: '1970-01-01T00:00:00Z' }
  const crashed = restarted({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } })
  const worker = workerOf(runtime, crashed)
  worker.advance(crashed, 1000)
  t.strictSame([runtime.starts, worker.due, readyToStart(worker)], [0, never, 'False'])
  runtime.readyAt = 2000
  worker.advance(crashed, 2000)
  t.match([worker.regular[0], runtime.starts], [{ state: { kind: 'running', startedAt: 2000 }, restartCount: 2 }, 1])
})
