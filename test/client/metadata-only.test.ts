import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import { readYourWrites } from '../../src/cache/read-your-writes.ts'
import type { Client } from '../../src/client/client.ts'
import { clientOver } from '../../src/client/client.ts'
import { collect } from '../support/client/collect.ts'
import { metadataOnly } from '../../src/client/metadata-only.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const key = { namespace: 'a', name: 'x' }
const metadata = { ...key, uid: 'u' }
const sentObject = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata }
const returned = { apiVersion: 'example.com/v1', kind: 'Widget', metadata }

function setUp(body: unknown = sentObject): { client: Client; requests: ApiRequest[] } {
  const requests: ApiRequest[] = []
  const client = clientOver({
    request: async (request) => (requests.push(request), { statusCode: 200, headers: {}, body }),
    stream: async (request) => (requests.push(request), [Buffer.from(`${JSON.stringify(body)}\n`)] as unknown as AsyncIterable<Buffer>),
    close: async () => undefined,
  })
  return { client, requests }
}
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const partial = metadataOnly(widget)

t.test('a get, patch or apply requests and returns the metadata, with the kind of the type', async (t) => {
  const { client, requests } = setUp()
  t.strictSame(await client.get(partial, key), returned)
  t.strictSame(await client.patch(partial, key, { metadata: { labels: { a: 'b' } } }), returned)
  t.strictSame(await client.apply(partial, { metadata: key }), returned)
  t.strictSame(
    requests.map((request) => request.accept),
    [accept, accept, accept],
  )
  t.match(JSON.parse(requests[2]!.body!), { apiVersion: 'example.com/v1', kind: 'Widget' }, 'the request has the kind of the type')
})

t.test('a list and a watch request and return the metadata', async (t) => {
  const list = setUp({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList', metadata: {}, items: [sentObject] })
  t.strictSame(await list.client.list(partial), { apiVersion: 'example.com/v1', kind: 'WidgetList', metadata: {}, items: [returned] })
  t.equal(list.requests[0]!.accept, 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')
  const watch = setUp({ type: 'ADDED', object: sentObject })
  t.strictSame(await collect(watch.client.watch(partial, {})), [{ type: 'ADDED', object: returned }])
  t.equal(watch.requests[0]!.accept, accept)
})

t.test('other types have no such header', async (t) => {
  const { client, requests } = setUp({ type: 'ADDED', object: returned })
  await client.get(widget, key)
  await client.list(widget)
  await collect(client.watch(widget, {}))
  await client.delete(partial, key)
  for (const request of requests) t.notOk('accept' in request, request.method)
})

t.test('a create or update is refused, because it would remove the other fields', async (t) => {
  const { client, requests } = setUp()
  for (const write of [
    () => client.create(partial, { metadata: key }),
    () => client.update(partial, { metadata: key }),
    () => client.updateStatus(partial, { metadata: key }),
  ])
    await t.rejects(write(), { code: 'PRO_INPUT', message: /of a Widget would remove all of its fields but the metadata/ })
  t.strictSame(requests, [])
})

t.test('the static type has only metadata', async (t) => {
  const { client } = setUp()
  const pod = await client.get(metadataOnly(core.pod), key)
  const namespace: string = pod.metadata.namespace
  // @ts-expect-error a Pod without its spec
  const spec: unknown = pod.spec
  t.strictSame([namespace, spec], ['a', undefined])
})

t.test('the metadata of a written object does not replace the object in the cache', async (t) => {
  const { client } = setUp()
  const written: unknown[] = []
  const writing = readYourWrites(client, {
    written: (_type, object) => written.push(object) > 0,
    stored: () => new Map(),
    deleted: () => undefined,
  })
  await writing.patch(partial, key, {})
  await writing.apply(partial, { metadata: key })
  t.strictSame(written, [])
  await writing.patch(widget, key, {})
  t.equal(written.length, 1)
})
