import { core, createClient, isForbidden } from 'proreus'
import { rulesOfOperators, startControlPlane, until } from 'proreus/testing'
import t from 'tap'
import { hello, operator } from '../hello.ts'

const reading = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }
const hellos = { apiGroups: ['example.com'], resources: ['hellos'], verbs: ['create'] }

const controlPlane = await startControlPlane({
  namespaces: ['system', 'test'],
  users: [{ name: 'alice', rules: [reading], namespaceRules: { test: [hellos] } }],
  serviceAccounts: [{ name: 'system/hello', rules: rulesOfOperators([operator]) }],
})
t.teardown(() => controlPlane.stop())

t.test('alice may look, and create in one namespace', async (t) => {
  const alice = createClient(controlPlane.connectionFor('alice'))
  t.teardown(() => alice.close())
  await until('her rights hold', () => alice.list(core.configMap))
  const refused = await alice.create(core.configMap, { metadata: { namespace: 'test', name: 'a' } }).catch((error: unknown) => error)
  t.ok(isForbidden(refused))
})

t.test('the operator needs no more rights than its manifests give it', async (t) => {
  const connection = controlPlane.connectionFor({ serviceAccount: 'system/hello' })
  await controlPlane.startOperator([operator], { connection })
  await controlPlane.client.create(hello, { metadata: { namespace: 'test', name: 'world' }, spec: { message: 'hi' } })
  await until('the ConfigMap is there', () => controlPlane.client.get(core.configMap, { namespace: 'test', name: 'world' }))

  const requests = (await controlPlane.requests()).filter(({ user }) => user === 'system:serviceaccount:system:hello')
  t.ok(requests.some(({ verb, path }) => verb === 'patch' && path === '/api/v1/namespaces/test/configmaps/world'))
  t.strictSame(
    requests.filter(({ code }) => code === 403),
    [],
  )
})
