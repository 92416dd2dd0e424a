import t from 'tap'
import { configMap, deployment, event, namespace, pod } from '../../src/api/builtin.ts'
import type { Test } from 'tap'
import { createClient } from '../../src/client/client.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import type { ControlPlane, ControlPlaneOptions } from '../../src/testing/control-plane-types.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { Dice } from '../support/dice.ts'
import { recordingLogger } from '../support/recording-logger.ts'

const hour = 3_600_000

async function start(t: Test, options: ControlPlaneOptions): Promise<ControlPlane> {
  const controlPlane = await startControlPlane(options)
  t.teardown(() => controlPlane.stop())
  return controlPlane
}

t.test('timestamps and the lifetime of tokens follow the clock of an embedded control plane', async (t) => {
  const clock = new FakeClock(Math.floor(Date.now() / 1000) * 1000)
  const began = clock.now()
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
  const { client, connectionFor } = await start(t, { clock, controllers: false, serviceAccounts: [{ name: 'default/robot', rules }] })
  const robot = createClient(connectionFor({ serviceAccount: 'default/robot' }))
  t.teardown(() => robot.close())
  const createdAt = async (name: string): Promise<number> => {
    const { metadata } = await robot.create(configMap, { metadata: { namespace: 'default', name } })
    return Date.parse(metadata.creationTimestamp)
  }
  t.equal(await createdAt('a'), began)
  await clock.advance(48 * hour)
  t.equal(await createdAt('b'), began + 48 * hour, 'the client has replaced its expired token')

  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } }
  const answer = await client.raw('/api/v1/namespaces/default/serviceaccounts/robot/token', { method: 'POST', body })
  const { token } = (answer as { status: { token: string } }).status
  const { tls: _tls, ...address } = connectionFor({ serviceAccount: 'default/robot' })
  const bearer = createClient({ ...address, authorization: async () => `Bearer ${token}` })
  t.teardown(() => bearer.close())
  const create = (): Promise<unknown> => bearer.create(configMap, { metadata: { namespace: 'default', name: 'c' } }, { dryRun: true })
  await clock.advance(hour - 1_000)
  await t.resolves(create())
  await clock.advance(2_000)
  await t.rejects(create(), { code: 'PRO_API', message: /does not accept the credentials/ })
})

t.test('operators have the clock of the control plane, unless they get another one, and the numbers of `random`', async (t) => {
  const clock = new FakeClock(Date.now())
  const other = new FakeClock(Date.now())
  const controlPlane = await start(t, { clock, controllers: false })
  const reconciledWith = async (options: { clock?: FakeClock; random?: () => number }): Promise<object> => {
    const reconciled = Promise.withResolvers<object>()
    const controller = defineController(namespace, {
      reconcile: async (_, context) => reconciled.resolve({ clock: context.clock, id: context.reconcileID }),
    })
    const { logger } = recordingLogger()
    const started = await controlPlane.startOperator([defineOperator({ name: 'watcher', kinds: [], controllers: [controller] })], {
      logger,
      ...options,
    })
    const result = await reconciled.promise
    await started.stop()
    return result
  }
  t.match(await reconciledWith({}), { clock })
  t.equal(((await reconciledWith({ clock: other })) as { clock: FakeClock }).clock, other)
  t.match(await reconciledWith({ random: () => 0.5 }), { id: '80000000-8000-4000-8000-000080000000' })
})

t.test('only an embedded control plane accepts a clock and random numbers', async (t) => {
  for (const backend of ['binaries', 'existing'] as const) {
    const misplaced = async (options: ControlPlaneOptions, problem: string): Promise<void> => {
      const message = `The options of startControlPlane are invalid: ${problem}.`
      await t.rejects(startControlPlane({ backend, ...options }), { code: 'PRO_CONFIG_INVALID', message })
    }
    const absent = `must be absent with the backend "${backend}", whose API server`
    await misplaced({ clock: new FakeClock() }, `clock: ${absent} uses the time of its machine`)
    await misplaced({ pods: {} }, `pods: ${absent} has nodes of its own`)
    await misplaced({ random: () => 0 }, `random: ${absent} chooses uids and names itself`)
  }
  await t.rejects(startControlPlane({ clock: {} as FakeClock }), { code: 'PRO_CONFIG_INVALID', message: /clock: must be a clock/ })
})

t.test('the same numbers of `random` give the Pods of a Deployment the same names and uids', async (t) => {
  const at = Math.floor(Date.now() / 1000) * 1000
  const podsOf = async (seed: number): Promise<string[]> => {
    const [clock, dice] = [new FakeClock(at), new Dice(seed)]
    const { client, stop } = await start(t, { clock, random: () => dice.next() })
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
    const spec = { replicas: 3, selector: { matchLabels: labels }, template }
    await client.create(deployment, { metadata: { namespace: 'default', name: 'web' }, spec })
    const identities = async (): Promise<string[]> => {
      // A Pod is rejected until its ServiceAccount exists. The controller retries after a back-off, so the clock must advance.
      await clock.advance(100)
      const { items } = await client.list(pod, { namespace: 'default', labelSelector: { matchLabels: labels } })
      return items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    }
    await until('there are three Pods', async () => (await identities()).length === 3)
    const found = await identities()
    await stop()
    return found
  }
  const [first, second, other] = [await podsOf(1), await podsOf(1), await podsOf(2)]
  t.strictSame(first, second)
  t.equal(new Set([...first, ...other]).size, 6)
})

t.test('Events are deleted an hour after they were last seen', async (t) => {
  const clock = new FakeClock()
  const { client } = await start(t, { clock, controllers: false })
  const seenAt = (ms: number) => ({ lastTimestamp: new Date(ms).toISOString().replace(/\.\d+/, '') })
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'a' }
  const create = (name: string) =>
    client.create(event, { metadata: { namespace: 'default', name }, involvedObject, reason: 'Tested', ...seenAt(clock.now()) })
  await create('once')
  const repeated = await create('repeated')
  await clock.advance(hour / 2)
  await client.update(event, { ...repeated, count: 2, ...seenAt(clock.now()) })
  const names = async (): Promise<string[]> => (await client.list(event)).items.map(({ metadata }) => metadata.name)
  t.strictSame(await names(), ['once', 'repeated'])
  await clock.advance(hour / 2 + 300_000)
  await until('the first one is gone', async () => (await names()).join() === 'repeated')
  await clock.advance(hour / 2)
  await until('the other one is gone', async () => (await names()).length === 0)
})
