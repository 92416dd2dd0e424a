import t from 'tap'
import type { Test } from 'tap'
import type { Pod } from '../../../src/api/builtin.ts'
import { configMap, event, namespace, node, pod, serviceAccount } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { clientFor, find, untilGone } from '../../support/devcluster/client.ts'
import { startTestCluster } from '../../support/devcluster/kubectl.ts'
import { until } from '../../../src/testing/until.ts'

const key = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })
const containers = [{ name: 'main', image: 'example.com/app:1' }]

async function start(t: Test): Promise<Client> {
  const cluster = await startTestCluster(t, {
    nodes: [
      { name: 'n1', labels: { zone: 'a' } },
      { name: 'n2', labels: { zone: 'b' } },
    ],
  })
  return clientFor(t, cluster.connection)
}

function running(client: Client, name: string): Promise<Pod> {
  return until(`${name} runs`, async () => {
    const found = await client.get(pod, key(name))
    return found.status?.phase === 'Running' && found
  })
}

const conditionsOf = ({ status }: Pod): string[] => (status?.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`)

t.test('a Pod is bound to a matching node, gets an address and runs', async (t) => {
  const client = await start(t)
  await client.create(pod, { metadata: key('a'), spec: { containers, nodeSelector: { zone: 'b' } } })
  const found = await running(client, 'a')
  t.match(found, {
    spec: { nodeName: 'n2' },
    status: {
      hostIP: '10.0.0.2',
      podIP: '10.244.0.2',
      podIPs: [{ ip: '10.244.0.2' }],
      containerStatuses: [
        { name: 'main', ready: true, started: true, restartCount: 0, image: 'example.com/app:1', state: { running: {} } },
      ],
    },
  })
  t.strictSame(conditionsOf(found), [
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ])
  t.ok(found.status?.startTime)
  await client.create(pod, { metadata: key('b'), spec: { containers } })
  t.not((await running(client, 'b')).status?.podIP, '10.244.0.2')
  const events = await until('all events are there', async () => {
    const { items } = await client.list(event, { namespace: 'default', fieldSelector: 'involvedObject.name=a' })
    return items.length === 5 && items
  })
  t.strictSame(events.map(({ reason, source, reportingInstance }) => `${reason} ${source?.component} ${reportingInstance}`).sort(), [
    'Created kubelet n2',
    'Pulled kubelet n2',
    'Pulling kubelet n2',
    'Scheduled default-scheduler ',
    'Started kubelet n2',
  ])
})

t.test('a Pod that fits on no node stays Pending with a reason until a node matches', async (t) => {
  const client = await start(t)
  await client.create(pod, { metadata: key('a'), spec: { containers, nodeSelector: { zone: 'c' } } })
  const message =
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
  const waiting = await until('it is said', async () => {
    const found = await client.get(pod, key('a'))
    return conditionsOf(found).length > 0 && found
  })
  t.match(waiting.status, { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] })
  t.equal(waiting.spec?.nodeName, undefined)
  await until('there is an event', async () =>
    (await client.list(event, { namespace: 'default' })).items.some(({ reason }) => reason === 'FailedScheduling'),
  )
  await client.patch(node, { name: 'n1' }, { metadata: { labels: { zone: 'c' } } })
  t.equal((await running(client, 'a')).spec?.nodeName, 'n1')
})

t.test('a deleted Pod terminates gracefully, and its address is reused', async (t) => {
  const client = await start(t)
  await client.create(pod, { metadata: key('a'), spec: { containers } })
  const before = await running(client, 'a')
  t.match(await client.delete(pod, key('a')), { metadata: { deletionGracePeriodSeconds: 30 } })
  t.ok(await find(client, pod, key('a')))
  await untilGone(client, pod, key('a'))
  await client.create(pod, { metadata: key('a'), spec: { containers } })
  t.equal((await running(client, 'a')).status?.podIP, before.status?.podIP)
})

t.test('a changed image restarts its container', async (t) => {
  const client = await start(t)
  await client.create(pod, { metadata: key('a'), spec: { containers } })
  const { metadata } = await running(client, 'a')
  await client.patch(pod, key('a'), { spec: { containers: [{ name: 'main', image: 'example.com/app:2' }] } }, { type: 'strategic' })
  const changed = await until('the container is new', async () => {
    const found = await client.get(pod, key('a'))
    return found.status?.containerStatuses?.[0]?.restartCount === 1 && found
  })
  t.equal(changed.metadata.uid, metadata.uid)
  t.equal(changed.status?.containerStatuses?.[0]?.image, 'example.com/app:2')
})

t.test('a Pod with hostNetwork has the address of its node', async (t) => {
  const client = await start(t)
  await client.create(pod, { metadata: key('a'), spec: { containers, hostNetwork: true, nodeName: 'n1' } })
  t.match(await running(client, 'a'), { status: { hostIP: '10.0.0.1', podIP: '10.0.0.1' } })
})

t.test('each namespace has the default ServiceAccount and the root CA', async (t) => {
  const client = await start(t)
  await client.create(namespace, { metadata: { name: 'new' } })
  await until('the ServiceAccount is there', () => find(client, serviceAccount, { name: 'default', namespace: 'new' }))
  const rootCa = await until('the ConfigMap is there', () => find(client, configMap, { name: 'kube-root-ca.crt', namespace: 'new' }))
  t.match(rootCa.data?.['ca.crt'], /BEGIN CERTIFICATE/)
  const first = await client.get(serviceAccount, { name: 'default', namespace: 'new' })
  await client.delete(serviceAccount, { name: 'default', namespace: 'new' })
  await client.patch(configMap, { name: 'kube-root-ca.crt', namespace: 'new' }, { data: { 'ca.crt': 'wrong' } })
  await until(
    'it is made again',
    async () =>
      ((await find(client, serviceAccount, { name: 'default', namespace: 'new' }))?.metadata.uid ?? first.metadata.uid) !==
      first.metadata.uid,
  )
  await until(
    'it is mended',
    async () => (await client.get(configMap, { name: 'kube-root-ca.crt', namespace: 'new' })).data?.['ca.crt'] !== 'wrong',
  )
})

t.test('routine messages of controllers are logged at level debug only', async (t) => {
  for (const [level, tells] of [
    ['info', false],
    ['debug', true],
  ] as const) {
    const { logger, lines } = recordingLogger(level)
    const cluster = await startTestCluster(t, { logger })
    const client = clientFor(t, cluster.connection)
    await client.create(pod, { metadata: key('a'), spec: { containers } })
    await running(client, 'a')
    t.equal(
      lines.some((line) => line === 'info: starting workers'),
      tells,
      level,
    )
  }
})
