/** Tests of an embedded cluster that keeps its objects: the objects after a restart, and full disks. */
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import {
  configMap,
  customResourceDefinition,
  event,
  namespace,
  serviceAccount,
  validatingWebhookConfiguration,
} from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import type { DevCluster, DevClusterOptions } from '../../src/devcluster/dev-cluster.ts'
import { startDevCluster } from '../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { until } from '../../src/testing/until.ts'
import { clientFor, createWidgetDefinition, find, widgetType } from '../support/devcluster/client.ts'
import { startTestCluster } from '../support/devcluster/kubectl.ts'
import { KilledCluster } from '../support/durability/killed-cluster.ts'
import { rejectionOf } from '../support/rejection.ts'

/** Starts a cluster that keeps its objects in a folder. */
function startKept(t: Test, directory: string, options: Partial<DevClusterOptions> = {}): Promise<DevCluster> {
  return startTestCluster(t, { directory, keepObjects: true, controllers: false, ...options })
}

const key = { namespace: 'default', name: 'a' }

t.test('a restart keeps the objects with their uids and resourceVersions, and the resourceVersion goes on', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  t.strictSame(first.found, { objects: 0, types: 0 })
  const client = clientFor(t, first.connection)
  const created = await client.create(configMap, { metadata: key, data: { a: '1' } })
  const { items, metadata } = await client.list(configMap)
  await first.close()

  const second = await startKept(t, directory)
  t.ok(second.found.objects > 20 && second.found.types > 3, JSON.stringify(second.found))
  const again = clientFor(t, second.connection)
  const list = await again.list(configMap)
  t.strictSame(list.items, items)
  t.ok(Number(list.metadata.resourceVersion) > Number(metadata.resourceVersion))
  const changed = await again.patch(configMap, key, { data: { a: '2' } })
  t.equal(changed.metadata.uid, created.metadata.uid)
  t.ok(Number(changed.metadata.resourceVersion) > Number(metadata.resourceVersion))
})

t.test('a watch from before the restart is expired', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  const created = await clientFor(t, first.connection).create(configMap, { metadata: key })
  await first.close()
  const second = await startKept(t, directory)
  const since = created.metadata.resourceVersion
  const stream = await clientFor(t, second.connection).raw(`/api/v1/configmaps?watch=1&resourceVersion=${since}`)
  t.match(stream, { type: 'ERROR', object: { code: 410, reason: 'Expired' } })
})

t.test('a restart keeps the credentials', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  const client = clientFor(t, first.connection)
  await client.create(serviceAccount, { metadata: key })
  const { status } = (await client.raw('/api/v1/namespaces/default/serviceaccounts/a/token', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    contentType: 'application/json',
  })) as { status: { token: string } }
  await first.close()
  const second = await startKept(t, directory)
  const { server } = second.connection
  const withToken = clientFor(t, { ...first.connection, server, authorization: () => Promise.resolve(`Bearer ${status.token}`) })
  const { status: who } = (await withToken.raw('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    contentType: 'application/json',
  })) as { status: JsonObject }
  t.match(who, { userInfo: { username: 'system:serviceaccount:default:a' } })
  await t.resolves(clientFor(t, { ...first.connection, server }).get(namespace, { name: 'default' }), 'the administrator of before')
})

t.test('custom resources are served from the first request on, as the schema of now reads them', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  const client = clientFor(t, first.connection)
  await createWidgetDefinition(client)
  await client.create(widgetType, { metadata: key, spec: { size: 3, color: 'red' } })
  const definition = await client.get(customResourceDefinition, { name: 'widgets.example.com' })
  const schema = definition.spec.versions[0]!.schema!.openAPIV3Schema as JsonObject
  const { color: _color, ...rest } = ((schema.properties as JsonObject).spec as { properties: JsonObject }).properties
  const properties = { ...rest, weight: { type: 'integer', default: 7 } }
  const versions = definition.spec.versions.map((version) => ({
    ...version,
    selectableFields: [],
    schema: { openAPIV3Schema: { ...schema, properties: { ...(schema.properties as JsonObject), spec: { type: 'object', properties } } } },
  }))
  await client.patch(customResourceDefinition, { name: 'widgets.example.com' }, { spec: { versions } } as never)
  await first.close()

  const second = await startKept(t, directory)
  const again = clientFor(t, second.connection)
  const { spec } = await again.get(widgetType, key)
  t.strictSame(spec, { size: 3, weight: 7 }, 'without the unknown field, and with the new default')
  t.strictSame((await again.list(widgetType)).items[0]!.spec, spec)
})

t.test('Events are kept for an hour', async (t) => {
  // The certificates are valid from the time of this clock. Clients use the system time, so this clock must not be ahead of the system
  // time.
  const clock = new FakeClock(Date.now() - 70 * 60_000)
  const directory = t.testdir()
  const first = await startKept(t, directory, { clock })
  const write = (cluster: DevCluster, name: string) =>
    clientFor(t, cluster.connection).create(event, {
      metadata: { namespace: 'default', name },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
      lastTimestamp: new Date(clock.now()).toISOString().replace(/\.\d+/, ''),
    } as never)
  await write(first, 'old')
  clock.set(clock.now() + 50 * 60_000)
  await write(first, 'new')
  await first.close()
  clock.set(clock.now() + 20 * 60_000)
  const second = await startKept(t, directory, { clock })
  const { items } = await clientFor(t, second.connection).list(event, { namespace: 'default' })
  t.strictSame(
    items.map(({ metadata }) => metadata.name),
    ['new'],
  )
})

t.test('a reset forgets the objects, and keeps the credentials', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  await clientFor(t, first.connection).create(configMap, { metadata: key })
  await first.close()
  const second = await startKept(t, directory, { reset: true })
  t.strictSame(second.found, { objects: 0, types: 0 })
  const client = clientFor(t, { ...first.connection, server: second.connection.server })
  t.equal(await find(client, configMap, key), undefined)
})

t.test('a webhook of an earlier run does not prevent the start', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory, { controllers: true })
  await clientFor(t, first.connection).create(validatingWebhookConfiguration, {
    metadata: { name: 'all' },
    webhooks: [
      {
        name: 'all.example.com',
        rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
        clientConfig: { url: 'https://127.0.0.1:1' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  await first.close()
  const second = await startKept(t, directory, { controllers: true })
  t.match(await rejectionOf(clientFor(t, second.connection).create(configMap, { metadata: key })), { message: /failed calling webhook/ })
})

t.test('two clusters cannot use the same objects', async (t) => {
  const directory = t.testdir()
  const first = await startKept(t, directory)
  await t.rejects(startKept(t, directory), { code: 'PRO_STATE_FILE', message: /are in use by another process/ })
  await clientFor(t, first.connection).create(configMap, { metadata: key })
  await first.close()
  const second = await startKept(t, directory)
  t.ok(await find(clientFor(t, second.connection), configMap, key), 'the first one was not disturbed')
})

t.test('a port that is in use releases the objects', async (t) => {
  const directory = t.testdir()
  const other = await startTestCluster(t, { controllers: false })
  await t.rejects(startKept(t, directory, { port: other.port, portRequired: true }), { code: 'PRO_PORT_IN_USE' })
  await t.resolves(startKept(t, directory))
})

t.test('objects are kept only in a directory', async (t) => {
  await t.rejects(startDevCluster({ keepObjects: true, logger: silentLogger() }), {
    code: 'PRO_CONFIG_INVALID',
    message: /needs a directory/,
  })
})

t.test('on a full disk, writes are refused with 500 and not shown, reads go on, and nothing acknowledged is lost', async (t) => {
  const directory = join(t.testdir(), 'kept')
  const full = new KilledCluster(directory, { fileLimitKiB: 1024 })
  t.teardown(() => full.kill())
  const client = await full.ready()
  const acknowledged: string[] = []
  const write = (name: string) =>
    client.create(configMap, { metadata: { namespace: 'default', name }, data: { text: 'x'.repeat(100_000) } })
  const failure = await until('the disk is full', async () => {
    const name = `a${acknowledged.length}`
    const created = await write(name).catch((error: unknown) => error as Error)
    if (created instanceof Error) return created
    acknowledged.push(name)
    return undefined
  })
  t.match(failure, { status: { code: 500, reason: 'InternalError', message: /the write cannot be stored: / } })
  t.ok(acknowledged.length > 2)
  const names = async (): Promise<string[]> => {
    const { items } = await client.list(configMap, { namespace: 'default' })
    return items.map(({ metadata }) => metadata.name)
  }
  t.strictSame((await names()).sort(), [...acknowledged].sort())
  t.match(await rejectionOf(write('again')), { status: { code: 500 } })
  await client.close()
  await full.kill()

  const restarted = new KilledCluster(directory)
  t.teardown(() => restarted.kill())
  const again = await restarted.ready()
  t.strictSame(
    (await again.list(configMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name).sort(),
    acknowledged.sort(),
  )
  await again.close()
})
