/** Tests of Pods with a runtime that does what the test says: a new sandbox, and the last Events. */
import t from 'tap'
import type { ReadonlyPod } from '../../../../src/devcluster/controllers/api-types.ts'
import type {
  ContainerRun,
  ContainerRuntime,
  PodRuntime,
  RuntimeEvent,
} from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { NodeMachine } from '../../../../src/devcluster/controllers/kubelet/node-machines.ts'
import { PodWorker } from '../../../../src/devcluster/controllers/kubelet/pod-worker.ts'

const never = Number.POSITIVE_INFINITY

class ScriptedRuntime implements ContainerRuntime {
  readonly scheme = 'scripted'
  readyAt = 0
  sandboxAttempt = 0
  /** The ends of the runs that have been stopped. */
  readonly ends: (() => void)[] = []
  readonly events: RuntimeEvent[] = []
  starts = 0

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
        resume: () => undefined,
        start: (at) => this.#start(at),
      }),
    }
  }

  #start(at: number): ContainerRun {
    this.starts += 1
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
const workerOf = (runtime: ScriptedRuntime): PodWorker =>
  new PodWorker(pod, runtime, { machine: {} as NodeMachine, podIP: '10.244.0.2', allocatable: {}, now: 0, wake() {} })

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
