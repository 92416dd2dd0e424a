/**
 * Runs the MyPod operator in the process of the test, on any control plane. The operator's user has exactly the permissions of the
 * operator's ClusterRole.
 */
import type { Test } from 'tap'
import {
  customResourceDefinition,
  mutatingWebhookConfiguration,
  pod,
  validatingWebhookConfiguration,
  type Pod,
} from '../../../src/api/builtin.ts'
import { groupResourceOf } from '../../../src/api/group-version-kind.ts'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ObjectInput } from '../../../src/api/object.ts'
import type { PolicyRule } from '../../../src/api/policy-rule.ts'
import type { Client } from '../../../src/client/client.ts'
import { namesOf } from '../../../src/manager/installation-names.ts'
import { run } from '../../../src/manager/run.ts'
import { installKinds, installWebhooks, whenTrusted } from '../../../src/manifests/install.ts'
import { managerRole } from '../../../src/manifests/rbac.ts'
import { mypodOperator } from '../../../src/operators/mypod/index.ts'
import { mypod, type MyPod } from '../../../src/operators/mypod/kind.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import type { ControlPlaneUser } from '../../../src/testing/users.ts'
import { conformanceControlPlane } from '../conformance/backends.ts'
import { isNotFound } from '../../../src/client/api-error.ts'
import { find, untilGone } from '../devcluster/client.ts'
import { until } from '../../../src/testing/until.ts'

export const namespace = 'test-mypod'
const operators = [mypodOperator]
const names = namesOf('mypod')
const operatorUser = 'operator'

export const seconds = 1000
/** The default of `terminationGracePeriodSeconds` in a Pod, in milliseconds. */
export const grace = 30 * seconds

/** A running MyPod operator. */
export interface RunningOperator {
  /** Resolves with the number of reconciles that have finished since the operator was started. */
  reconciles(): Promise<number>
  /** Returns true until `run` has returned or thrown. */
  isAlive(): boolean
  stop(): Promise<void>
}

export interface MyPodWorld {
  readonly controlPlane: ControlPlane
  /** A client with all permissions. */
  readonly client: Client
  /** Starts the operator. Resolves when the operator runs and the API server sends requests to the operator's webhooks. */
  startOperator(): Promise<RunningOperator>
  whenCollected(): Promise<void>
  /**
   * Resolves with the writes that the operator has requested since `time`, each as `VERB PATH`. Dry runs are included as `VERB
   * PATH?dryRun=All`. Access reviews are omitted.
   */
  writesSince(time: number): Promise<string[]>
  /** Resolves with the requests of the operator that were rejected with 401 or 403. */
  refusals(): Promise<string[]>
  podOf(name: string, inNamespace?: string): Promise<Pod | undefined>
  mypodOf(name: string, inNamespace?: string): Promise<MyPod | undefined>
  /** Waits until the Pod with this name exists and `done` returns true for it. */
  untilPod(name: string, what: string, done?: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>
  /** Waits until `done` returns true for the MyPod with this name. */
  untilMyPod(name: string, what: string, done: (object: MyPod) => boolean, timeoutMs?: number): Promise<MyPod>
  /** Creates a MyPod, and waits until it is ready. */
  running(name: string, spec?: Partial<MyPod['spec']>): Promise<{ object: MyPod; live: Pod }>
}

/** Starts a control plane in which the kind MyPod is installed. The operator does not run yet. */
export async function startMyPodWorld(t: Test, users: readonly ControlPlaneUser[] = []): Promise<MyPodWorld> {
  const rules = managerRole(operators, names)['rules'] as unknown as PolicyRule[]
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace], users: [...users, { name: operatorUser, rules }] })
  const { client } = controlPlane
  const directory = t.testdir()
  await installKinds(client, operators, systemClock)
  t.teardown(() => uninstall(client))

  const podOf = (name: string, inNamespace = namespace): Promise<Pod | undefined> => find(client, pod, { namespace: inNamespace, name })
  const mypodOf = (name: string, inNamespace = namespace): Promise<MyPod | undefined> =>
    find(client, mypod, { namespace: inNamespace, name })
  /** Waits until the object exists and `done` returns true for it. */
  const untilFound = <O>(what: string, read: () => Promise<O | undefined>, done: (object: O) => boolean, timeoutMs?: number): Promise<O> =>
    until(
      what,
      async () => {
        const found = await read()
        return found !== undefined && done(found) && found
      },
      timeoutMs,
    )
  const untilPod: MyPodWorld['untilPod'] = (name, what, done = () => true, timeoutMs) =>
    untilFound(`the Pod ${name} ${what}`, () => podOf(name), done, timeoutMs)
  const untilMyPod: MyPodWorld['untilMyPod'] = (name, what, done, timeoutMs) =>
    untilFound(`the MyPod ${name} ${what}`, () => mypodOf(name), done, timeoutMs)
  const requestsOfOperator = async (since: number) =>
    (await controlPlane.requests()).filter(({ at, user }) => at >= since && user === operatorUser)

  return {
    controlPlane,
    client,
    podOf,
    mypodOf,
    untilPod,
    untilMyPod,
    async running(name, spec = {}) {
      await client.create(mypod, mypodNamed(name, spec))
      const object = await untilMyPod(name, 'is ready', (found) => conditionOf(found, 'Ready')?.status === 'True')
      return { object, live: (await podOf(name))! }
    },
    whenCollected: () => whenCollected(client),
    async writesSince(time) {
      const writes = (await requestsOfOperator(time)).filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      const changes = writes.filter(({ path }) => !path.includes('accessreviews'))
      return changes.map(({ verb, path, query }) => `${verb} ${path}${query.includes('dryRun=All') ? '?dryRun=All' : ''}`)
    },
    async refusals() {
      const refused = (await requestsOfOperator(0)).filter(({ code }) => code === 401 || code === 403)
      return refused.map(({ verb, path }) => `${verb} ${path}`)
    },
    async startOperator() {
      const stop = new AbortController()
      const started = Promise.withResolvers<void>()
      const metrics = new Metrics()
      let alive = true
      const done = run(operators, {
        connection: controlPlane.connectionFor(operatorUser),
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
        async onStarted({ webhook }) {
          await whenTrusted(client, operators, webhook!.caBundle, systemClock)
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
      await untilCalled(client)
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

/**
 * Removes the webhook configurations and the CustomResourceDefinition from an existing cluster, because the cluster continues to run after
 * the test.
 */
async function uninstall(client: Client): Promise<void> {
  await client.delete(mutatingWebhookConfiguration, { name: names.mutatingConfiguration }).catch(() => undefined)
  await client.delete(validatingWebhookConfiguration, { name: names.validatingConfiguration }).catch(() => undefined)
  const definition = { name: groupResourceOf(mypod) }
  await client.delete(customResourceDefinition, definition).catch(() => undefined)
  await untilGone(client, customResourceDefinition, definition)
}

/** Waits until the garbage collector watches MyPods. The garbage collector discovers new types every 30 seconds. */
export async function whenCollected(client: Client): Promise<void> {
  const key = { namespace, name: 'probe-of-garbage-collector' }
  // With the propagation policy Orphan, the API server adds a finalizer to the object. Only the garbage collector removes this finalizer.
  // If the object no longer exists, the garbage collector has therefore processed the object.
  await client.create(mypod, mypodNamed(key.name))
  await client.delete(mypod, key, { propagationPolicy: 'Orphan' })
  await until('the garbage collector knows the kind', async () => (await find(client, mypod, key)) === undefined, 90_000)
  // If the operator is already running, the operator has created a Pod for the MyPod. Because the MyPod was deleted with the propagation
  // policy Orphan, the garbage collector does not delete this Pod.
  await client.delete(pod, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

/**
 * Waits until the API server calls the webhooks. A real API server watches the webhook configurations. It uses a new configuration only
 * after it has received the watch event.
 */
async function untilCalled(client: Client): Promise<void> {
  // This object violates the schema. As soon as the API server calls the mutating webhook, the operator denies the object. The operator
  // needs no request to the API server for this decision.
  const refused = mypodNamed('asks-for-webhooks', { podSpec: { containers: [] } })
  await until('the webhooks are called', () =>
    client.create(mypod, refused, { dryRun: true }).then(
      () => false,
      (error: unknown) => error instanceof Error && error.message.includes('denied the request'),
    ),
  )
}

type Spec = MyPod['spec']

/** Returns a MyPod to create, with one container. `spec` overrides fields of its spec. */
export function mypodNamed(name: string, spec: Partial<Spec> = {}, metadata: ObjectInput['metadata'] = {}): ObjectInput<MyPod> {
  return {
    metadata: { namespace, name, ...metadata },
    spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:1' }] }, ...spec },
  }
}

export function conditionOf(object: MyPod, type: string): { status: string; reason: string; message: string } | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type)
}

/** Returns the parts of a Pod that an unrelated change must preserve: the spec, and the metadata that does not change with every write. */
export function identityOf({ metadata: { uid, labels, annotations, ownerReferences }, spec }: Pod): JsonObject {
  return { uid, labels, annotations, ownerReferences, spec } as unknown as JsonObject
}
