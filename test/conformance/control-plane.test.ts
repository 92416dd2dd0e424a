/** Tests of `startControlPlane` with every backend. */
import { existsSync } from 'node:fs'
import t from 'tap'
import { configMap, namespace as namespaceType, pod } from '../../src/api/builtin.ts'
import { createClient } from '../../src/client/client.ts'
import { loadConnection } from '../../src/client/kubeconfig.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import { watchesOf } from '../support/conformance/watch-events.ts'

t.test('two control planes are independent', needsOwnControlPlane, async (t) => {
  const [one, two] = await Promise.all(
    ['conformance-one', 'conformance-two'].map((name) => conformanceControlPlane(t, { namespaces: [name] })),
  )
  t.not(one!.connection.server, two!.connection.server)
  t.ok(await one!.client.get(namespaceType, { name: 'conformance-one' }))
  await t.rejects(one!.client.get(namespaceType, { name: 'conformance-two' }), { message: 'namespaces "conformance-two" not found' })
  await one!.stop()
  await t.rejects(createClient(one!.connection).raw('/readyz'), { code: 'PRO_API_UNREACHABLE' })
  t.equal(await two!.client.raw('/readyz'), 'ok')
})

t.test('the kubeconfig is that of the administrator and is removed with the control plane', needsOwnControlPlane, async (t) => {
  const { kubeconfig, client, stop } = await conformanceControlPlane(t, { controllers: false })
  const other = createClient(await loadConnection({ env: { KUBECONFIG: kubeconfig } }))
  t.teardown(() => other.close())
  await other.create(configMap, { metadata: { namespace: 'default', name: 'conformance' }, data: { a: 'b' } })
  t.match(await client.get(configMap, { namespace: 'default', name: 'conformance' }), { data: { a: 'b' } })
  await stop()
  t.notOk(existsSync(kubeconfig))
})

t.test('without controllers, Pods can be created and stay Pending', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, { controllers: false })
  await client.create(pod, { metadata: { namespace: 'default', name: 'a' }, spec: { containers: [{ name: 'main', image: 'x' }] } })
  const { status, spec } = await client.get(pod, { namespace: 'default', name: 'a' })
  t.equal(status?.phase, 'Pending')
  t.equal(spec?.nodeName, undefined)
})

t.test('requests are recorded in the order of their arrival', needsOwnControlPlane, async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false })
  const path = '/api/v1/namespaces/default/configmaps'
  const watch = await watchesOf(t, controlPlane.connection)(path)
  await controlPlane.client.create(configMap, { metadata: { namespace: 'default', name: 'later' } })
  await watch.take(1)
  watch.close()
  const requests = await until('the watch is recorded', async () => {
    const all = await controlPlane.requests()
    return all.some((request) => request.verb === 'watch' && request.path === path) && all
  })
  const own = requests.filter((request) => request.path === path && ['watch', 'create'].includes(request.verb))
  t.strictSame(
    own.map(({ verb }) => verb),
    ['watch', 'create'],
  )
  t.strictSame(
    requests.map(({ at }) => at),
    requests.map(({ at }) => at).sort((a, b) => a - b),
  )
})

t.test('users have the rights of their rules, and their requests are recorded', needsOwnControlPlane, async (t) => {
  const configMaps = (...verbs: string[]) => [{ apiGroups: [''], resources: ['configmaps'], verbs }]
  const controlPlane = await conformanceControlPlane(t, {
    namespaces: ['conformance-users'],
    users: [{ name: 'reader', rules: configMaps('get', 'list'), namespaceRules: { 'conformance-users': configMaps('create') } }],
  })
  const reader = createClient(controlPlane.connectionFor('reader'))
  t.teardown(() => reader.close())
  await until('the rules hold', () => reader.list(configMap))
  await reader.create(configMap, { metadata: { namespace: 'conformance-users', name: 'a' } })
  await t.rejects(reader.create(configMap, { metadata: { namespace: 'default', name: 'a' } }), {
    statusCode: 403,
    message: 'configmaps is forbidden: User "reader" cannot create resource "configmaps" in API group "" in the namespace "default"',
  })
  t.throws(() => controlPlane.connectionFor('nobody'), { code: 'PRO_INPUT' })
  const own = (await controlPlane.requests()).filter(({ user, verb }) => user === 'reader' && verb === 'create')
  t.strictSame(
    own.map(({ path, query, code }) => ({ path, query, code })),
    [
      { path: '/api/v1/namespaces/conformance-users/configmaps', query: 'fieldManager=proreus', code: 201 },
      { path: '/api/v1/namespaces/default/configmaps', query: 'fieldManager=proreus', code: 403 },
    ],
  )
})

t.test('Pods run on the nodes of the options', needsOwnControlPlane, async (t) => {
  const { client } = await conformanceControlPlane(t, { nodes: [{ name: 'one' }, { name: 'two', labels: { disk: 'fast' } }] })
  const spec = { nodeSelector: { disk: 'fast' }, containers: [{ name: 'main', image: 'x' }] }
  await client.create(pod, { metadata: { namespace: 'default', name: 'a' }, spec })
  const live = await until('it runs', async () => {
    const found = await client.get(pod, { namespace: 'default', name: 'a' })
    return found.status?.phase === 'Running' && found
  })
  t.equal(live.spec?.nodeName, 'two')
  t.match(live.status?.podIP, /^10\.244\./)
  t.match(live.status?.hostIP, /^10\.0\./)
})
