/** The acceptance tests of the Memcached operator. Each test is a row of the specification, B1 to B12. */
import { parse } from 'yaml'
import t from 'tap'
import { pod as podType } from '../../src/api/builtin.ts'
import { findCondition } from '../../src/api/conditions.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import { memcachedOperator } from '../../src/operators/memcached/index.ts'
import type { Memcached, MemcachedKind } from '../../src/operators/memcached/kind.ts'
import { memcached, memcachedOfLimingnihao } from '../../src/operators/memcached/kind.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { until } from '../../src/testing/until.ts'
import { untilWebhooksAnswer } from '../support/conformance/answering-webhooks.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'
import { untilCollected } from '../support/conformance/collected.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'

// The time limit is long, because the test is slow on a busy machine.
t.setTimeout(300_000)

const user = { name: 'memcached-operator', rules: rulesOfOperators([memcachedOperator]) }
const controlPlane = await conformanceControlPlane(t, { users: [user] })
const { client } = controlPlane
const newNamespace = newNamespaces(client, 'memcached')
const start = () => controlPlane.startOperator([memcachedOperator], { connection: controlPlane.connectionFor(user.name) })
let operator = await start()

interface Key {
  readonly namespace: string
  readonly name: string
}

const kinds: readonly MemcachedKind[] = [memcached, memcachedOfLimingnihao]
const [first] = kinds as [MemcachedKind]
const newKey = async (name = 'example-memcached'): Promise<Key> => ({ namespace: await newNamespace(), name })
/** The manifest from the guides, unchanged. */
const sampleOf = (group: string, size: number): object =>
  parse(`
apiVersion: "${group}/v1alpha1"
kind: "Memcached"
metadata:
  name: "example-memcached"
spec:
  size: ${size}
`) as object

/** Applies the sample, as `kubectl apply` does. */
async function apply(key: Key, size: number, kind = first): Promise<void> {
  const { group } = kind
  const sample = sampleOf(group, size) as { metadata: object }
  await client.apply(kind, { ...sample, metadata: { ...sample.metadata, namespace: key.namespace } } as never, { fieldManager: 'kubectl' })
}

const deploymentOf = (key: Key) => client.get(apps.deployment, key)
const untilReplicas = (key: Key, replicas: number, timeoutMs?: number) =>
  until(
    `the Deployment has ${replicas} replicas`,
    async () => (await deploymentOf(key).catch(() => undefined))?.spec?.replicas === replicas,
    timeoutMs,
  )

async function podNames({ namespace }: Key): Promise<readonly string[]> {
  const { items } = await client.list(podType, { namespace })
  return items.flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp === undefined ? [name] : [])).sort()
}

/** Resolves with the Memcached when its status names `size` Pods that exist. */
const untilNodes = (key: Key, size: number, kind = first) =>
  until(`the status names ${size} Pods`, async () => {
    const found = await client.get(kind, key)
    const names = await podNames(key)
    return names.length === size && String(found.status?.nodes) === String(names) && found
  })

const untilAvailable = (key: Key, kind = first) =>
  until('the Memcached is available', async () => {
    const found = await client.get(kind, key)
    return findCondition(found.status?.conditions, 'Available')?.status === 'True' && found
  })

for (const kind of kinds) {
  const row = kind === first ? ['B1, B2', 'B3', 'B4', 'B5', 'B6', 'B7'] : Array.from({ length: 6 }, () => 'B11')
  t.test(`the sample in the group ${kind.group}`, async (t) => {
    const key = await newKey()
    t.test(`${row[0]}: it gets a Deployment of three Pods, and the status names them`, async (t) => {
      await apply(key, 3, kind)
      await untilReplicas(key, 3, 10_000)
      const deployment = await deploymentOf(key)
      t.ok(isControlledBy(deployment, await client.get(kind, key)))
      t.match(deployment.spec?.template.spec?.containers, [
        {
          name: 'memcached',
          image: 'memcached:1.4.36-alpine',
          command: ['memcached', '-m=64', '-o', 'modern', '-v'],
          ports: [{ name: 'memcached', containerPort: 11_211 }],
        },
      ])
      const { status } = await untilNodes(key, 3, kind)
      t.strictSame([...(status?.nodes ?? [])].sort(), status?.nodes)
      const { status: available } = await untilAvailable(key, kind)
      t.match(findCondition(available?.conditions, 'Available'), { reason: 'PodsAvailable', message: '3 of 3 Pods are available.' })
    })
    t.test(`${row[1]}: a size of 4 is a fourth Pod`, async () => {
      await apply(key, 4, kind)
      await untilReplicas(key, 4, 5000)
      await untilNodes(key, 4, kind)
    })
    t.test(`${row[2]}: a Deployment that is scaled by hand is scaled back, and kubectl scale changes the size`, async (t) => {
      await client.patch(apps.deployment, key, { spec: { replicas: 1 } })
      await untilReplicas(key, 4, 10_000)
      await client.patch(kind, key, { spec: { replicas: 2 } }, { subresource: 'scale' })
      await untilReplicas(key, 2)
      t.match(await client.get(kind, key, { subresource: 'scale' }), { spec: { replicas: 2 } })
      await untilNodes(key, 2, kind)
    })
    t.test(`${row[3]}: the status names the Pod that replaces a deleted one`, async (t) => {
      const [gone = ''] = await podNames(key)
      await client.delete(podType, { ...key, name: gone })
      const { status } = await untilNodes(key, 2, kind)
      t.notOk(status?.nodes?.includes(gone))
    })
    t.test(`${row[4]}: a deleted Deployment is created again`, async () => {
      const before = await deploymentOf(key)
      await client.delete(apps.deployment, key)
      await until(
        'there is another one',
        async () => {
          const found = await deploymentOf(key).catch(() => undefined)
          return found !== undefined && found.metadata.uid !== before.metadata.uid
        },
        10_000,
      )
      await untilNodes(key, 2, kind)
    })
    t.test(`${row[5]}: with the Memcached, its Deployment and its Pods are deleted`, async () => {
      await untilCollected(client, kind, { metadata: await newKey('probe'), spec: {} })
      await client.delete(kind, key)
      await until(
        'nothing is left',
        async () => {
          const { items } = await client.list(apps.deployment, { namespace: key.namespace })
          return items.length === 0 && (await podNames(key)).length === 0
        },
        40_000,
      )
    })
    t.end()
  })
}

t.test('B8: a size that is no number of Pods is refused', async (t) => {
  const key = await newKey()
  for (const [size, message] of [
    [-1, /spec\.size: Invalid value: -1: spec\.size in body should be greater than or equal to 1/],
    [0, /spec\.size: Invalid value: 0: spec\.size in body should be greater than or equal to 1/],
    ['3', /spec\.size: Invalid value: "string": spec\.size in body must be of type integer: "string"/],
    [101, /spec\.size: Invalid value: 101: spec\.size in body should be less than or equal to 100/],
  ] as const)
    await t.rejects(create(key, { size }), { statusCode: 422, message })
  await t.rejects(create(key, { size: 1, containerPort: 70_000 }), { statusCode: 422, message: /spec\.containerPort/ })
  for (const name of ['a.b', 'a'.repeat(64)])
    await t.rejects(create({ ...key, name }, { size: 1 }), {
      statusCode: 422,
      message: /metadata\.name: Invalid value: ".*because it becomes a label of the Pods/,
    })
  const generated = { namespace: key.namespace, generateName: 'generated-' } as never
  await t.resolves(client.create(first, { metadata: generated, spec: { size: 1 } }))
})

t.test('B9: a Memcached without a size has three Pods', async (t) => {
  const key = await newKey()
  await create(key, {})
  t.match((await client.get(first, key)).spec, { size: 3, containerPort: 11_211 })
  await untilReplicas(key, 3)
})

t.test('B10: two Memcacheds in one namespace have different Pods, and so do the labels of a stranger', async (t) => {
  const m1 = await newKey('m1')
  const m2 = { ...m1, name: 'm2' }
  for (const key of [m1, m2]) await create(key, { size: 2, ...(key === m2 && { containerPort: 11_212 }) })
  const labels = { app: 'memcached', memcached_cr: 'm1' }
  const container = { name: 'main', image: 'example.com/app:1' }
  await client.create(podType, { metadata: { ...m1, name: 'stranger', labels }, spec: { containers: [container] } })
  const nodesOf = (key: Key) =>
    until(`the status of ${key.name} names two Pods`, async () => {
      const { status } = await client.get(first, key)
      return status?.nodes?.length === 2 && status.nodes.every((node) => node.startsWith(`${key.name}-`)) && status.nodes
    })
  const [one, two] = [await nodesOf(m1), await nodesOf(m2)]
  t.notOk(one.some((name) => two.includes(name)))
  t.match((await deploymentOf(m2)).spec?.template.spec?.containers[0], {
    command: ['memcached', '-m=64', '-o', 'modern', '-v', '-p', '11212'],
    ports: [{ containerPort: 11_212 }],
  })
})

t.test('a Deployment of somebody else is left alone, and the status says why there are no Pods', async (t) => {
  const key = await newKey()
  const labels = { app: 'other' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } }
  await client.create(apps.deployment, { metadata: key, spec: { replicas: 0, selector: { matchLabels: labels }, template } })
  await create(key, { size: 1 })
  const { status } = await until('it is degraded', async () => {
    const found = await client.get(first, key)
    return findCondition(found.status?.conditions, 'Degraded')?.status === 'True' && found
  })
  t.match(findCondition(status?.conditions, 'Degraded'), { reason: 'NameConflict' })
  t.match(findCondition(status?.conditions, 'Available'), { status: 'False', reason: 'NameConflict' })
  t.strictSame(status?.nodes, [])
  await until('there is a Warning', async () =>
    (await client.list(core.event, { namespace: key.namespace })).items.some(
      ({ type, reason }) => type === 'Warning' && reason === 'NameConflict',
    ),
  )
  t.equal((await deploymentOf(key)).spec?.replicas, 0)
  // Each of these changes triggers a reconcile.
  const labelled = { app: 'memcached', memcached_cr: key.name }
  for (const name of ['a', 'b', 'c'])
    await client.create(podType, {
      metadata: { ...key, name, labels: labelled },
      spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] },
    })
  const later = { ...key, name: 'later' }
  await create(later, { size: 1 })
  await untilReplicas(later, 1)
  const { items } = await client.list(core.event, { namespace: key.namespace, fieldSelector: 'reason=NameConflict' })
  t.strictSame(
    items.map(({ count = 1 }) => count),
    [1],
    'one Event, although Pods with the labels change',
  )
})

t.test('B12: at rest nothing is written, also by an operator that is started again', needsRequests, async (t) => {
  const key = await newKey()
  await apply(key, 3)
  await untilNodes(key, 3)
  const before = await untilAvailable(key)
  await operator.stop()
  const since = Date.now()
  operator = await start()
  // The operator reconciles the older Memcached first. When the Memcached `later` is available, the operator has therefore reconciled both.
  const later = { ...key, name: 'later' }
  await untilWebhooksAnswer(() => client.create(first, { metadata: later, spec: { size: 1 } }, { dryRun: true }))
  await create(later, { size: 1 })
  await untilReplicas(later, 1)
  await until('the later one is available', async () => (await client.get(first, later)).status?.readyReplicas === 1)
  t.equal((await client.get(first, key)).metadata.resourceVersion, before.metadata.resourceVersion)
  t.strictSame(await writesTo(key, since), [])
})

function create(key: Key, spec: object): Promise<Memcached> {
  return client.create(first, { metadata: key, spec } as never)
}

async function writesTo({ namespace, name }: Key, since: number): Promise<readonly string[]> {
  const requests = (await controlPlane.requests()).filter(({ at, user: by }) => at >= since && by === user.name)
  const writes = requests.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  return writes
    .filter(({ path }) => path.includes(`/namespaces/${namespace}/`) && path.endsWith(`/${name}`))
    .map(({ verb, path }) => `${verb} ${path}`)
}
