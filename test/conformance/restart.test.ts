/** Tests of restarts. An operator that starts again after it was killed or stopped must not write objects that are already correct. */
import t from 'tap'
import {
  customResourceDefinition,
  mutatingWebhookConfiguration,
  pod as podType,
  validatingWebhookConfiguration,
} from '../../src/api/builtin.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import type { Client } from '../../src/client/client.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { mypod } from '../../src/operators/mypod/kind.ts'
import { freePort } from '../support/process/free-port.ts'
import { launchOperator, startOperator, type OperatorProcess } from '../support/process/operator.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'test-mypod'
const names = Array.from({ length: 40 }, (_, index) => `mypod-${String(index).padStart(2, '0')}`)

t.test('an operator that is restarted', needsOwnControlPlane, async (t) => {
  const { kubeconfig, client } = await conformanceControlPlane(t, { namespaces: [namespace] })
  const directory = t.testdir()
  const options = { directory, kubeconfig, args: ['--drain-delay', '0s'] }
  const port = await freePort()

  // The objects are created before the operator starts, so it reconciles all of them at the start.
  await installKinds(client, [mypodOperator], systemClock)
  await Promise.all(
    names.map((name) =>
      client.create(mypod, {
        metadata: { namespace, name },
        spec: { podSpec: { containers: [{ name: 'main', image: 'example.com/pause:1' }] } },
      }),
    ),
  )

  await t.test('creates exactly one Pod for every MyPod and keeps existing ones, after it was killed during reconciles', async (t) => {
    const someExist = podsExist(client, 3)
    const killed = launchOperator(t, options, port)
    await someExist
    await killed.stop('SIGKILL')
    const before = await uids(client)
    t.ok(before.size >= 3 && before.size < names.length, `${before.size} of ${names.length} Pods were there when it was killed`)

    const { running } = await startOperator(t, options, port)
    await allReady(client)
    const { items: owners } = await client.list(mypod, { namespace })
    const { items: pods } = await client.list(podType, { namespace })
    t.strictSame(pods.map(({ metadata }) => metadata.name).sort(), names)
    t.ok(
      pods.every((pod) =>
        isControlledBy(
          pod,
          owners.find(({ metadata }) => metadata.name === pod.metadata.name)!,
        ),
      ),
    )
    const after = await uids(client)
    for (const [name, uid] of before) t.equal(after.get(name), uid, `${name} is the Pod that it was`)
    t.equal(await running.stop(), 0)
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await t.test(`writes nothing after it was stopped by ${signal} when everything was reconciled`, async (t) => {
      const first = await startOperator(t, options, port)
      await settled(first)
      await allReady(client)
      const before = await versions(client)
      t.equal(before.size, 2 * names.length + 3, 'MyPods, Pods, the CRD and two webhook configurations')
      t.equal(await first.running.stop(signal), signal === 'SIGTERM' ? 0 : null)

      const second = await startOperator(t, options, port)
      await settled(second)
      t.strictSame(await versions(client), before)
      t.equal(await second.metric('controller_runtime_reconcile_total', { result: 'error' }), 0)
      t.equal(await second.running.stop(), 0)
    })
  }
})

/** Resolves when at least `count` Pods exist. */
async function podsExist(client: Client, count: number): Promise<void> {
  const seen = new Set<string>()
  for await (const { object } of client.watch(podType, { namespace, signal: AbortSignal.timeout(60_000) })) {
    if (seen.add(object.metadata.uid).size >= count) return
  }
}

async function uids(client: Client): Promise<Map<string, string>> {
  const { items } = await client.list(podType, { namespace })
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]))
}

async function allReady(client: Client): Promise<void> {
  await until('all MyPods are ready', async () => {
    const { items } = await client.list(mypod, { namespace })
    const ready = items.filter(({ status }) => status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
    return ready.length === names.length
  })
}

/** Resolves when the operator process has reconciled every MyPod, and the work queue of this process is empty. */
async function settled({ metric }: OperatorProcess): Promise<void> {
  await until('the operator has settled', async () => {
    const done = await metric('controller_runtime_reconcile_total', { controller: 'mypod', result: 'success' })
    const waiting = (await metric('workqueue_depth')) + (await metric('controller_runtime_active_workers'))
    return done >= names.length && waiting === 0
  })
}

/** Returns the uid and the resourceVersion of each object that a restarted operator must not write. */
async function versions(client: Client): Promise<Map<string, string>> {
  const types: readonly ResourceType[] = [
    mypod,
    podType,
    customResourceDefinition,
    mutatingWebhookConfiguration,
    validatingWebhookConfiguration,
  ]
  const lists = await Promise.all(types.map((type) => client.list(type)))
  return new Map(
    lists.flatMap(({ items }, index) =>
      items.map(({ metadata }): [string, string] => [
        `${types[index]!.plural}/${metadata.name}`,
        `uid ${metadata.uid}, resourceVersion ${metadata.resourceVersion}`,
      ]),
    ),
  )
}
