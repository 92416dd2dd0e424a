/** An embedded cluster and the MyPod operator in this process, as a user who may do what its ClusterRole says and no more. */
import type { Test } from 'tap'
import { pod, type Pod } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/api/clock.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import type { Client } from '../../src/client/client.ts'
import type { DevCluster, DevClusterUser } from '../../src/devcluster/dev-cluster.ts'
import { run } from '../../src/manager/run.ts'
import { installKinds, installWebhooks, whenTrusted } from '../../src/manifests/install.ts'
import { managerRole } from '../../src/manifests/rbac.ts'
import { mutatingName, validatingName } from '../../src/manager/names.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { clientFor, find } from './devcluster-client.ts'
import { startTestCluster } from './devcluster-kubectl.ts'
import { until } from './process.ts'

export const namespace = 'test-mypod'
const operators = [mypodOperator]
const operatorUser = 'operator'

/** The operator while it runs. */
export interface RunningOperator {
  /** How many reconciles have ended since it was started. */
  reconciles(): Promise<number>
  /** Whether the process would still be alive: nothing made `run` end. */
  isAlive(): boolean
  stop(): Promise<void>
}

export interface MyPodWorld {
  readonly cluster: DevCluster
  /** As the administrator. */
  readonly client: Client
  /** Starts the operator and waits until its webhooks are called. */
  startOperator(): Promise<RunningOperator>
  /** How many requests were answered so far: where `writesSince` counts from. */
  mark(): number
  /** What the operator has changed in the cluster since then, as `verb path`. */
  writesSince(mark: number): string[]
  /** What it was not allowed to do. */
  refusals(): string[]
  podOf(name: string, inNamespace?: string): Promise<Pod | undefined>
  mypodOf(name: string, inNamespace?: string): Promise<MyPod | undefined>
  /** Waits until the Pod of this name is there and satisfies `done`. */
  untilPod(name: string, what: string, done?: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>
  /** Waits until the MyPod of this name satisfies `done`. */
  untilMyPod(name: string, what: string, done: (object: MyPod) => boolean, timeoutMs?: number): Promise<MyPod>
}

/** Starts a cluster that knows the kind; the operator is started by the test. */
export async function startMyPodWorld(t: Test, users: readonly DevClusterUser[] = []): Promise<MyPodWorld> {
  const rules = managerRole(operators, 'manager', [mutatingName, validatingName])['rules'] as unknown as PolicyRule[]
  const cluster = await startTestCluster(t, { users: [...users, { name: operatorUser, token: operatorUser, rules }] })
  const client = clientFor(t, cluster.connection)
  const directory = t.testdir()
  await installKinds(client, operators, systemClock)
  const podOf = (name: string, inNamespace = namespace): Promise<Pod | undefined> => find(client, pod, { namespace: inNamespace, name })
  const mypodOf = (name: string, inNamespace = namespace): Promise<MyPod | undefined> =>
    find(client, mypod, { namespace: inNamespace, name })

  return {
    cluster,
    client,
    podOf,
    mypodOf,
    mark: () => cluster.requests.length,
    writesSince: (mark) =>
      cluster.requests
        .slice(mark)
        .filter(
          ({ user, verb, path }) => user === operatorUser && !['get', 'list', 'watch'].includes(verb) && !path.includes('accessreviews'),
        )
        .map(({ verb, path }) => `${verb} ${path}`),
    refusals: () =>
      cluster.requests.filter(({ user, code }) => user === operatorUser && code === 403).map(({ verb, path }) => `${verb} ${path}`),
    untilPod: (name, what, done = () => true, timeoutMs) =>
      until(
        `the Pod ${name} ${what}`,
        async () => {
          const found = await podOf(name)
          return found !== undefined && done(found) && found
        },
        timeoutMs,
      ),
    untilMyPod: (name, what, done, timeoutMs) =>
      until(
        `the MyPod ${name} ${what}`,
        async () => {
          const found = await mypodOf(name)
          return found !== undefined && done(found) && found
        },
        timeoutMs,
      ),

    async startOperator() {
      const stop = new AbortController()
      const started = Promise.withResolvers<void>()
      const metrics = new Metrics()
      let alive = true
      const done = run(operators, {
        connection: cluster.connectionFor(operatorUser),
        signal: stop.signal,
        certificates: { kind: 'files', directory: `${directory}/certs` },
        webhook: { host: '127.0.0.1', port: 0 },
        probeBindAddress: '127.0.0.1:0',
        metricsBindAddress: '127.0.0.1:0',
        drainDelayMs: 0,
        logger: silentLogger(),
        metrics,
        async onServing({ webhook }) {
          await installWebhooks(client, operators, { url: webhook!.url })
        },
        async onStarted() {
          await whenTrusted(client, operators, systemClock)
          started.resolve()
        },
      }).finally(() => (alive = false))
      done.catch((error: unknown) => started.reject(error))
      const end = async (): Promise<void> => {
        stop.abort()
        await done.catch(() => undefined)
      }
      t.teardown(end)
      await started.promise
      return {
        isAlive: () => alive,
        stop: end,
        async reconciles() {
          const samples = (await metrics.registry.metrics()).matchAll(
            /^controller_runtime_reconcile_total\{controller="mypod",.*\} (\d+)$/gm,
          )
          return [...samples].reduce((sum, [, count]) => sum + Number(count), 0)
        },
      }
    },
  }
}

type Spec = MyPod['spec']

/** A MyPod to create: one container, and what `spec` changes. */
export function mypodNamed(name: string, spec: Partial<Spec> = {}, metadata: ObjectInput['metadata'] = {}): ObjectInput<MyPod> {
  return {
    metadata: { namespace, name, ...metadata },
    spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:1' }] }, ...spec },
  }
}

export function conditionOf(object: MyPod, type: string): { status: string; reason: string; message: string } | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type)
}

/** What of a Pod must stay when nobody means it: everything but its status and what goes with that. */
export function identityOf({ metadata: { uid, labels, annotations, ownerReferences }, spec }: Pod): JsonObject {
  return { uid, labels, annotations, ownerReferences, spec } as unknown as JsonObject
}
