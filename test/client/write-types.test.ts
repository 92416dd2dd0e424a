/**
 * Tests of the compile-time checks of writes. Each `@ts-expect-error` marks a mistake. Without the check, the mistake would be noticed only
 * in the cluster.
 */
import t from 'tap'
import { core } from '../../src/index.ts'
import { defineKind } from '../../src/api/kind.ts'
import { keyOf } from '../../src/api/object.ts'
import { Type } from '../../src/api/type.ts'
import { crdOf } from '../../src/manifests/crd.ts'
import type { Client } from '../../src/client/client.ts'
import { clientOver } from '../../src/client/client.ts'
import type { Transport } from '../../src/client/transport.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'

const memcached = defineKind({
  group: 'cache.example.com',
  kind: 'Memcached',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ size: Type.Integer({ default: 3 }), image: Type.Optional(Type.String()), port: Type.Integer() }),
      status: Type.Object({ nodes: Type.Array(Type.String()), ready: Type.Integer() }),
    },
  ],
})
const cluster = defineKind({ group: 'example.com', kind: 'Zone', scope: 'Cluster', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const key = { namespace: 'a', name: 'b' }

/** Returns a client that records its requests. */
function recording(): { client: Client; requests: ApiRequest[] } {
  const requests: ApiRequest[] = []
  const transport = {
    request: (request: ApiRequest) => {
      requests.push(request)
      return Promise.resolve({ body: { metadata: { ...key }, items: [] } })
    },
  } as unknown as Transport
  return { client: clientOver(transport), requests }
}

t.test('only fields with a default may be omitted in a create', async (t) => {
  const { client, requests } = recording()
  const metadata = { ...key, labels: { a: 'b' } }
  await client.create(memcached, { metadata, spec: { port: 1 } })
  // @ts-expect-error the field port is required
  await client.create(memcached, { metadata, spec: {} })
  // @ts-expect-error a misspelled field
  await client.create(memcached, { metadata, spec: { port: 1, siez: 3 } })
  // @ts-expect-error a misspelled section
  await client.create(memcached, { metadata, sepc: { port: 1 }, spec: { port: 1 } })
  // @ts-expect-error a misspelled field of a built-in type
  await client.create(core.configMap, { metadata, dta: {} })
  t.equal(requests.length, 5)
})

t.test('patches are typed by the fields of the object', async (t) => {
  const { client, requests } = recording()
  await client.patch(memcached, key, { spec: { size: 4, image: null }, metadata: { labels: { a: null } } })
  await client.patchStatus(memcached, key, { status: { nodes: ['a'], ready: null } })
  const unchanged: number | undefined = undefined
  await client.patch(memcached, key, { spec: { size: unchanged }, metadata: { labels: { a: unchanged } } })
  await client.patch(memcached, key, { spec: { replicas: 2 } }, { subresource: 'scale' })
  await client.patch(memcached, key, { status: { ready: 1 } }, { subresource: 'status' })
  await client.patch(memcached, key, [{ op: 'add', path: '/spec/size', value: 1 }], { type: 'json' })
  await client.apply(memcached, { metadata: key, spec: { size: 1 } })
  // @ts-expect-error a misspelled section
  await client.patch(memcached, key, { sepc: { size: 4 } })
  // @ts-expect-error size is a number
  await client.patch(memcached, key, { spec: { size: 'four' } })
  // @ts-expect-error a misspelled field
  await client.patchStatus(memcached, key, { status: { nods: ['a'] } })
  // @ts-expect-error a ConfigMap has no status
  await client.patchStatus(core.configMap, key, { status: { nods: ['a'] } })
  // @ts-expect-error a JSON patch is a list
  await client.patch(memcached, key, { spec: { size: 4 } }, { type: 'json' })
  // @ts-expect-error a server-side apply request may omit required fields, but not misspell a field
  await client.apply(memcached, { metadata: key, spec: { siez: 1 } })
  t.equal(requests.length, 13)
})

t.test('a subresource has static types of its own', async (t) => {
  const { client, requests } = recording()
  const scale = await client.get(memcached, key, { subresource: 'scale' })
  const replicas: number | undefined = scale.spec?.replicas
  await client.update(memcached, scale, { subresource: 'scale' })
  const patched: typeof scale = await client.patch(memcached, key, { spec: { replicas: 2 } }, { subresource: 'scale' })
  const size: number | undefined = (await client.get(memcached, key, { subresource: 'status' })).spec?.size
  const token: string = (await client.create(core.serviceAccount, { metadata: key, spec: {} }, { subresource: 'token' })).status?.token
  await client.create(core.pod, { metadata: key }, { subresource: 'eviction' })
  await client.create(core.pod, { metadata: key, target: { name: 'n' } }, { subresource: 'binding' })
  await client.create(core.pod, { metadata: key, anything: [1] }, { subresource: 'other' })
  await client.apply(memcached, { metadata: key, spec: { replicas: 2 } }, { subresource: 'scale' })
  await client.apply(memcached, { metadata: key, status: { ready: 1 } }, { subresource: 'status' })
  // @ts-expect-error a Scale has no size
  await client.apply(memcached, { metadata: key, spec: { size: 2 } }, { subresource: 'scale' })
  // @ts-expect-error a Scale has no image
  await client.update(memcached, { metadata: key, spec: { image: 'a' } }, { subresource: 'scale' })
  // @ts-expect-error a Binding has a target
  await client.create(core.pod, { metadata: key }, { subresource: 'binding' })
  // @ts-expect-error a misspelled field
  await client.create(core.pod, { metadata: key, deleteOption: {} }, { subresource: 'eviction' })
  // @ts-expect-error a Scale has no nodes
  t.notOk(patched.status?.nodes)
  t.strictSame([replicas, size, token, requests.length], [undefined, undefined, undefined, 14])
})

t.test('the fields of a status are optional in the CRD and in the static type', async (t) => {
  const [version] = (crdOf(memcached) as { spec: { versions: { schema: { openAPIV3Schema: { properties: object } } }[] } }).spec.versions
  t.strictSame(version!.schema.openAPIV3Schema.properties, {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['port'],
      properties: { size: { type: 'integer', default: 3 }, image: { type: 'string' }, port: { type: 'integer' } },
    },
    status: { type: 'object', properties: { nodes: { type: 'array', items: { type: 'string' } }, ready: { type: 'integer' } } },
  })
})

t.test('objects of namespaced types have a namespace', async (t) => {
  const { client } = recording()
  const { metadata } = await client.get(memcached, key)
  const namespace: string = metadata.namespace
  const pod: string = (await client.get(core.pod, key)).metadata.namespace
  const zone = await client.get(cluster, { name: 'b' })
  // @ts-expect-error a cluster-scoped object has no namespace
  const none: string = zone.metadata.namespace
  await client.create(core.configMap, { metadata: { ...keyOf({ metadata }), labels: {} } })
  await client.create(cluster, { metadata: { ...keyOf(zone), labels: {} }, spec: {} })
  t.strictSame([namespace, pod, none], ['a', 'a', 'a'])
})

t.test('a label selector is an object in the API, and text in the request', async (t) => {
  const { client, requests } = recording()
  await client.list(core.pod, {
    labelSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a', 'b'] }] },
  })
  await client.list(core.pod, { labelSelector: {} })
  t.strictSame(
    requests.map(({ query }) => query),
    [{ labelSelector: 'app=web,tier notin (a,b)' }, {}],
  )
  await t.rejects(client.list(core.pod, { labelSelector: { matchLabels: { app: 'web,tier=x' } } }), {
    code: 'PRO_INPUT',
    message: /^The label selector is not valid: matchLabels\[app\]: a valid label must be/,
  })
})
