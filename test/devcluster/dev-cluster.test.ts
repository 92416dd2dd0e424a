import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { DeepReadonly } from '../../src/api/json.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { Reflector } from '../../src/cache/reflector.ts'
import { configMap, namespace, node, secret } from '../../src/api/builtin.ts'
import { startDevCluster } from '../../src/devcluster/dev-cluster.ts'
import type { DevCluster } from '../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { clientFor } from '../support/devcluster/client.ts'
import { widgetDefinition } from '../support/devcluster/definitions.ts'
import { rejectionOf } from '../support/rejection.ts'
import { startTestCluster } from '../support/devcluster/kubectl.ts'
import { until } from '../../src/testing/until.ts'

t.test('the controllers of the cluster use no sockets', async (t) => {
  const accepted: unknown[] = []
  const listener = (message: unknown): void => void accepted.push(message)
  subscribe('net.server.socket', listener)
  t.teardown(() => unsubscribe('net.server.socket', listener))
  const { requests } = await startTestCluster(t)
  await until('a controller writes', () => requests.some(({ path }) => path === '/api/v1/namespaces/default/serviceaccounts'))
  t.strictSame(accepted, [])
})

t.test('ages in tables use the clock of the cluster', async (t) => {
  const clock = new FakeClock(Date.now())
  const client = clientFor(t, (await startTestCluster(t, { clock, controllers: false })).connection)
  await client.create(configMap, { metadata: { namespace: 'default', name: 'a' } })
  clock.set(clock.now() + 3_600_000)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const { rows } = (await client.raw('/api/v1/namespaces/default/configmaps/a', { accept })) as { rows: { cells: unknown[] }[] }
  t.strictSame(rows[0]!.cells, ['a', 0, '60m'])
})

t.test('a started cluster has its namespaces and its node', async (t) => {
  const cluster = await startTestCluster(t, { namespaces: ['one', 'default'], nodes: [{ name: 'n1', labels: { a: 'b' } }] })
  const client = clientFor(t, cluster.connection)
  t.strictSame(
    (await client.list(namespace)).items.map(({ metadata }) => metadata.name),
    ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'one'],
  )
  t.match((await client.list(node)).items, [
    {
      metadata: { name: 'n1', labels: { a: 'b', 'kubernetes.io/hostname': 'n1' } },
      status: { conditions: [{}, {}, {}, { type: 'Ready', status: 'True' }] },
    },
  ])
  t.match(await client.raw('/version'), { major: '1', minor: '36' })
})

t.test('users are limited to their rules, and every request is recorded', async (t) => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
  const cluster = await startTestCluster(t, { controllers: false, users: [{ name: 'jane', token: 'a-token', rules }] })
  const jane = clientFor(t, cluster.connectionFor('jane'))
  await jane.list(configMap)
  await t.rejects(jane.list(secret, { namespace: 'default' }), {
    reason: 'Forbidden',
    message: 'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "default"',
  })
  const own = cluster.requests.filter(({ user }) => user === 'jane')
  t.match(own, [
    { verb: 'list', code: 200, path: '/api/v1/configmaps' },
    { verb: 'list', code: 403, path: '/api/v1/namespaces/default/secrets' },
  ])
  t.throws(() => cluster.connectionFor('bob'), { code: 'PRO_INPUT' })
})

t.test('a restart keeps the CA and the token, so that an old kubeconfig stays valid', async (t) => {
  const directory = join(t.testdir(), '.proreus')
  const start = (): ReturnType<typeof startDevCluster> =>
    startDevCluster({ port: 0, directory, controllers: false, logger: silentLogger() })
  const first = await start()
  t.teardown(() => first.close())
  const before = first.kubeconfigYaml()
  await first.writeKubeconfig(join(directory, 'kubeconfig'))
  t.equal(readFileSync(join(directory, 'kubeconfig'), 'utf8'), before)
  t.equal(statSync(join(directory, 'kubeconfig')).mode & 0o777, 0o600)
  await first.close()
  const second = await start()
  t.teardown(() => second.close())
  const withoutServer = (text: string): string => text.replace(/server: .*/, '')
  t.equal(withoutServer(second.kubeconfigYaml()), withoutServer(before))
})

for (const [name, before, after] of [
  ['that has fewer changes behind it than the client has seen', 30, 1],
  ['that has more changes behind it than the client has seen', 1, 30],
] as const) {
  t.test(`a client that outlives a restart sees the state of the new server, ${name}`, async (t) => {
    const directory = join(t.testdir(), '.proreus')
    const start = (port: number): ReturnType<typeof startTestCluster> =>
      startTestCluster(t, { port, portRequired: true, directory, controllers: false, namespaces: [] })
    const fill = async (cluster: DevCluster, prefix: string, count: number): Promise<void> => {
      const client = clientFor(t, cluster.connection)
      for (let index = 1; index <= count; index += 1)
        await client.create(configMap, { metadata: { name: `${prefix}${index}`, namespace: 'default' } })
    }
    const first = await start(0)
    await fill(first, 'old', before)
    let seen: readonly DeepReadonly<KubernetesObject>[] = []
    const names = (): string => seen.map(({ metadata }) => metadata.name).join(' ')
    const reflector = new Reflector<KubernetesObject>({
      client: clientFor(t, first.connection),
      type: configMap,
      logger: silentLogger(),
      random: () => 1,
      sink: {
        listing: () => undefined,
        replace: async ({ objects }) => void (seen = objects),
        change: (type, object) => {
          const others = seen.filter(({ metadata }) => metadata.name !== object.metadata.name)
          seen = type === 'DELETED' ? others : [...others, object]
        },
        synced: () => undefined,
      },
    })
    const abort = new AbortController()
    const running = reflector.run(abort.signal)
    t.teardown(async () => {
      abort.abort()
      await running
    })
    await until('the first state is seen', () => names().includes('old1'))
    await first.close()
    const second = await start(first.port)
    await fill(second, 'new', after)
    await until('the second state is seen', () => names().includes('new1') && !names().includes('old'))
  })
}

t.test('a requested port that is in use is an error, the default port is replaced by a free one', async (t) => {
  const blocker = createServer()
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => blocker.close(resolve)))
  const { port } = blocker.address() as AddressInfo
  const options = { port, controllers: false, logger: silentLogger() }
  await t.rejects(startDevCluster({ ...options, portRequired: true, portFlag: '--port' }), {
    code: 'PRO_PORT_IN_USE',
    message: `The address 127.0.0.1:${port} is in use by another process: stop that one, or choose another address with --port.`,
  })
  const cluster = await startTestCluster(t, options)
  t.ok(cluster.port > port)
})

t.test('a dropped watch ends, and a watch from a compacted revision gets 410', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  const list = await client.list(configMap, { namespace: 'default' })
  const resourceVersion = list.metadata.resourceVersion!
  const watch = client.watch(configMap, { namespace: 'default', resourceVersion })[Symbol.asyncIterator]()
  const event = watch.next()
  await client.create(configMap, { metadata: { name: 'a', namespace: 'default' } })
  t.match(await event, { value: { type: 'ADDED', object: { metadata: { name: 'a' } } } })
  const end = watch.next()
  cluster.dropWatches()
  t.match(await end, { done: true })
  cluster.compact()
  const late = client.watch(configMap, { namespace: 'default', resourceVersion })[Symbol.asyncIterator]()
  t.match(await rejectionOf(late.next()), { statusCode: 410, reason: 'Expired' })
})

t.test('definitions are served after watches were dropped', async (t) => {
  const cluster = await startTestCluster(t, { controllers: false })
  const client = clientFor(t, cluster.connection)
  cluster.dropWatches()
  await client.raw('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    method: 'POST',
    body: widgetDefinition(),
    contentType: 'application/json',
  })
  const list = await until('served', () => client.raw('/apis/example.com/v1/widgets'))
  t.match(list, { kind: 'WidgetList' })
  t.strictSame((list as { items: unknown }).items, [])
})

t.test('a cluster can be closed while watches are open', async (t) => {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger() })
  const client = clientFor(t, cluster.connection)
  const watch = client.watch(configMap, {})[Symbol.asyncIterator]()
  await watch.next()
  await cluster.close()
  await t.rejects(client.raw('/version'), { code: 'PRO_API_UNREACHABLE' })
})
