/** `podWithoutProcesses`: a Pod whose driver starts fake processes instead of real ones. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import type { ReadonlyPod } from '../../../src/devcluster/controllers/api-types.ts'
import type { ContainerRun, RuntimeEvent } from '../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { NodeMachine } from '../../../src/devcluster/controllers/kubelet/node-machines.ts'
import { ContainerStartError } from '../../../src/devcluster/pods/driver.ts'
import type {
  ContainerOptions,
  ContainerProcess,
  ExecOptions,
  PodDriver,
  PodSandbox,
  SandboxOptions,
} from '../../../src/devcluster/pods/driver.ts'
import type { ClusterObjects } from '../../../src/devcluster/pods/runtime/cluster-objects.ts'
import { Images } from '../../../src/devcluster/pods/runtime/images.ts'
import type { PodContext } from '../../../src/devcluster/pods/runtime/pod-context.ts'
import { ProcessPod } from '../../../src/devcluster/pods/runtime/process-pod.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { until } from '../../../src/testing/until.ts'
import { FakeSources, podWith } from './fake-sources.ts'

export interface FakeProcess {
  readonly options: ContainerOptions
  readonly process: ContainerProcess
  /** The options of each call of `execute`. All of these calls fail. */
  readonly executed: readonly ExecOptions[]
  readonly output: PassThrough
  readonly exitCode: PromiseWithResolvers<number>
  /** Ends the process and its output. */
  exit(code: number): void
}

function fakeProcess(options: ContainerOptions): FakeProcess {
  const exitCode = Promise.withResolvers<number>()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const executed: ExecOptions[] = []
  const exit = (code: number): void => {
    stdout.end()
    stderr.end()
    exitCode.resolve(code)
  }
  const execute = (one: ExecOptions): Promise<never> => {
    executed.push(one)
    return Promise.reject(new Error('refused'))
  }
  const process = { stdout, stderr, exited: exitCode.promise, resize() {}, signal: () => exit(143), kill: () => exit(137), execute }
  return { options, process, executed, output: stdout, exitCode, exit }
}

export interface FakeWorld {
  readonly pod: ProcessPod
  readonly stateFolder: string
  /** The options of each sandbox that was created. */
  readonly sandboxes: readonly SandboxOptions[]
  /** The processes that were started. */
  readonly processes: readonly FakeProcess[]
  /** Starts a run of a container of the Pod. Resolves with the process of the run. */
  start(container?: string): Promise<FakeProcess>
  /** Stops the containers and destroys the Pod. Resolves when the files of the Pod have been removed. */
  destroy(): Promise<void>
}

export interface FakeWorldOptions {
  readonly mode?: PodDriver['mode']
  readonly objects?: FakeSources
  readonly metadata?: object
  readonly images?: Readonly<Record<string, string>>
  /** Replaces the method `start` of the sandbox. Default: `start` creates fake processes. */
  readonly start?: PodSandbox['start']
  /** The method `start` of the sandbox waits for this promise before it resolves. Default: it does not wait. */
  readonly mayStart?: Promise<void>
  /** The method `remove` of the sandbox resolves only after this promise has resolved. Default: `remove` waits for no promise. */
  readonly mayRemove?: Promise<void>
  /** Replaces parts of the context. */
  readonly context?: Partial<PodContext>
}

/** Creates a Pod `ns/web`. The defaults of a container are the name `main`, the image `x` and the command `true`. */
export async function podWithoutProcesses(t: Test, spec: object, options: FakeWorldOptions = {}): Promise<FakeWorld> {
  const { mode = 'namespaces', objects = new FakeSources(), metadata, images = {}, context, mayStart, mayRemove } = options
  const stateFolder = await mkdtemp(join(tmpdir(), 'proreus-pod-'))
  const processes: FakeProcess[] = []
  const sandboxes: SandboxOptions[] = []
  let isRemoved = false
  const sandbox: PodSandbox = {
    address: '10.244.0.7',
    ended: new Promise(() => undefined),
    async start(container) {
      if (options.start !== undefined) return options.start(container)
      if (isRemoved) throw new ContainerStartError('the sandbox of the Pod has been removed')
      const one = fakeProcess(container)
      processes.push(one)
      await mayStart
      return one.process
    },
    connect: () => Promise.reject(new Error('refused')),
    async remove() {
      isRemoved = true
      for (const { exit } of processes) exit(137)
      await mayRemove
    },
  }
  const driver: PodDriver = {
    mode,
    ownFolders: [],
    createSandbox(one) {
      sandboxes.push(one)
      return Promise.resolve(sandbox)
    },
    close: () => Promise.resolve(),
  }
  const removed = Promise.withResolvers<void>()
  const pod = new ProcessPod(
    podWith(withDefaults(spec), metadata),
    {
      driver,
      stateFolder,
      objects: objects as unknown as ClusterObjects,
      images: await Images.read(images),
      dns: { clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', resolvConf: '' },
      node: { hostname: 'laptop', hosts: '127.0.0.1 localhost\n' },
      clock: systemClock,
      random: () => 0.5,
      logger: silentLogger(),
      ...context,
    },
    {
      machine: {} as NodeMachine,
      allocatable: { cpu: '8', memory: '32Gi' },
      podIP: '10.244.0.7',
      now: systemClock.now(),
      wake() {},
      onDestroyed: (done) => void done.then(removed.resolve),
    },
  )
  const destroy = (): Promise<void> => {
    // Like the kubelet, this function stops the containers before it destroys the Pod.
    for (const { run } of pod.containers.values()) run?.stop(systemClock.now(), 0)
    void pod.destroy()
    return removed.promise
  }
  t.teardown(async () => {
    await destroy()
    await rm(stateFolder, { recursive: true, force: true })
  })
  return {
    pod,
    stateFolder,
    sandboxes,
    processes,
    async start(name = 'main') {
      const count = processes.length
      const run = startRun(pod, name, count)
      await until('the container has started', () => processes.length > count || run.start.error !== undefined)
      const process = processes.at(count)
      if (process === undefined) throw new Error(run.start.error?.message)
      return process
    },
    destroy,
  }
}

/** Starts a run of a container. `restarts` is the number of earlier runs of the container. */
export function startRun(pod: ProcessPod, name = 'main', restarts = 0): ContainerRun {
  const { containers = [], initContainers = [] } = pod.pod.spec ?? {}
  const spec = [...containers, ...initContainers].find((one) => one.name === name)!
  return (pod.containers.get(name) ?? pod.container(spec, { record() {} })).start(systemClock.now(), restarts)
}

/** Returns the Events of a Pod since the last call, each as `TYPE REASON: MESSAGE`. */
export function eventsOf(pod: ProcessPod): readonly string[] {
  return pod.takeEvents().map(({ type, reason, message }: RuntimeEvent) => `${type} ${reason}: ${message}`)
}

function withDefaults(spec: object): object {
  const { containers = [{}] } = spec as Pick<NonNullable<ReadonlyPod['spec']>, 'containers'>
  return { ...spec, containers: containers.map((one) => ({ name: 'main', image: 'x', command: ['true'], ...one })) }
}
