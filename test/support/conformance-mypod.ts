/** The MyPod operator in this process, on any control plane, as a user who may do what its ClusterRole says and no more. */
import type { Test } from 'tap'
import { pod, type Pod } from '../../src/api/builtin.ts'
import { systemClock } from '../../src/api/clock.ts'
import type { ResourceType, ObjectOf } from '../../src/api/group-version-kind.ts'
import type { PolicyRule } from '../../src/api/policy-rule.ts'
import type { Client } from '../../src/client/client.ts'
import { mutatingName, validatingName } from '../../src/manager/names.ts'
import { run } from '../../src/manager/run.ts'
import { installKinds, installWebhooks, whenTrusted } from '../../src/manifests/install.ts'
import { managerRole } from '../../src/manifests/rbac.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { mypod, type MyPod } from '../../src/operators/mypod/kind.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import type { ControlPlane } from '../../src/testing/control-plane.ts'
import type { ControlPlaneUser } from '../../src/testing/users.ts'
import { conformanceControlPlane } from '../conformance/backends.ts'
import { find } from './devcluster-client.ts'
import { namespace } from './mypod-world.ts'
import { until } from './process.ts'

const operators = [mypodOperator]
const operatorUser = 'operator'

export interface MyPodControlPlane {
  readonly controlPlane: ControlPlane
  /** As the administrator. */
  readonly client: Client
  /** Starts the operator and waits until its webhooks are called. */
  startOperator(): Promise<{ stop(): Promise<void> }>
  /** Waits until the garbage collector knows the kind: it looks for new ones only every half minute. */
  whenCollected(): Promise<void>
  /** What the operator was not allowed to do. */
  refusals(): Promise<string[]>
  podOf(name: string): Promise<Pod | undefined>
  mypodOf(name: string): Promise<MyPod | undefined>
  /** Waits until the Pod of this name is there and satisfies `done`. */
  untilPod(name: string, what: string, done?: (pod: Pod) => boolean, timeoutMs?: number): Promise<Pod>
  /** Waits until the MyPod of this name satisfies `done`. */
  untilMyPod(name: string, what: string, done: (object: MyPod) => boolean, timeoutMs?: number): Promise<MyPod>
}

/** Starts a control plane that knows the kind; the operator is started by the test. */
export async function startMyPodControlPlane(t: Test, users: readonly ControlPlaneUser[] = []): Promise<MyPodControlPlane> {
  const rules = managerRole(operators, 'manager', [mutatingName, validatingName])['rules'] as unknown as PolicyRule[]
  const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace], users: [...users, { name: operatorUser, rules }] })
  const { client } = controlPlane
  const directory = t.testdir()
  await installKinds(client, operators, systemClock)

  const objectOf = <R extends ResourceType>(type: R, name: string): Promise<ObjectOf<R> | undefined> =>
    find(client, type, { namespace, name })
  const untilObject = <R extends ResourceType>(
    type: R,
    name: string,
    what: string,
    done: (object: ObjectOf<R>) => boolean,
    timeoutMs?: number,
  ): Promise<ObjectOf<R>> =>
    until(
      `the ${type.kind} ${name} ${what}`,
      async () => {
        const found = await objectOf(type, name)
        return found !== undefined && done(found) && found
      },
      timeoutMs,
    )

  return {
    controlPlane,
    client,
    podOf: (name) => objectOf(pod, name),
    mypodOf: (name) => objectOf(mypod, name),
    untilPod: (name, what, done = () => true, timeoutMs) => untilObject(pod, name, what, done, timeoutMs),
    untilMyPod: (name, what, done, timeoutMs) => untilObject(mypod, name, what, done, timeoutMs),
    async whenCollected() {
      const key = { namespace, name: 'probe-of-garbage-collector' }
      // Nobody but the garbage collector takes away the finalizer that this policy sets.
      await client.create(mypod, { metadata: key, spec: { podSpec: { containers: [{ name: 'main', image: 'x' }] } } })
      await client.delete(mypod, key, { propagationPolicy: 'Orphan' })
      await until('the garbage collector knows the kind', async () => (await objectOf(mypod, key.name)) === undefined, 90_000)
    },
    async refusals() {
      const requests = await controlPlane.requests()
      return requests.filter(({ user, code }) => user === operatorUser && code === 403).map(({ verb, path }) => `${verb} ${path}`)
    },
    async startOperator() {
      const stop = new AbortController()
      const started = Promise.withResolvers<void>()
      const done = run(operators, {
        connection: controlPlane.connectionFor(operatorUser),
        signal: stop.signal,
        certificates: { kind: 'files', directory: `${directory}/certs` },
        webhook: { host: '127.0.0.1', port: 0 },
        probeBindAddress: '127.0.0.1:0',
        metricsBindAddress: '127.0.0.1:0',
        drainDelayMs: 0,
        logger: silentLogger(),
        async onServing({ webhook }) {
          await installWebhooks(client, operators, { url: webhook!.url })
        },
        async onStarted() {
          await whenTrusted(client, operators, systemClock)
          started.resolve()
        },
      })
      done.catch((error: unknown) => started.reject(error))
      const end = async (): Promise<void> => {
        stop.abort()
        await done.catch(() => undefined)
      }
      t.teardown(end)
      await started.promise
      await untilCalled(client)
      return { stop: end }
    },
  }
}

/** A real API server learns of a changed webhook configuration from its own watch: some moments after the write. */
async function untilCalled(client: Client): Promise<void> {
  const refused = {
    metadata: { namespace, name: 'asks-for-webhooks' },
    spec: { podLabels: { creator: 'somebody' }, podSpec: { containers: [{ name: 'main', image: 'x' }] } },
  }
  await until('the webhooks are called', () =>
    client.create(mypod, refused, { dryRun: true }).then(
      () => false,
      (error: unknown) => error instanceof Error && error.message.includes('spec.podLabels[creator]'),
    ),
  )
}
