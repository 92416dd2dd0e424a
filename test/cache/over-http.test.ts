import type { ServerResponse } from 'node:http'
import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { Cache } from '../../src/cache/cache.ts'
import { createClient } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { object } from '../support/client/fake-cluster.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { startTestServer } from '../support/client/server.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })

t.test('an informer watches over HTTP, also when connections break', async (t) => {
  const watches: ServerResponse[] = []
  const server = await startTestServer(({ url }, response) => {
    if (!url.includes('watch=true')) return { body: { metadata: { resourceVersion: '1' }, items: [object('a', 1)] } }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    watches.push(response)
    return undefined
  })
  const send = (type: string, name: string, resourceVersion: number): void =>
    void watches.at(-1)?.write(`${JSON.stringify({ type, object: object(name, resourceVersion) })}\n`)
  const client = createClient(server.connection, { userAgent: 'test' })
  const clock = new FakeClock()
  const cache = new Cache(client, { logger: recordingLogger().logger, clock })
  const informer = cache.informer(widget)
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  await cache.whenSynced()

  await eventually(() => watches.length === 1)
  send('ADDED', 'b', 2)
  await eventually(() => informer.store.size === 2)
  watches[0]?.destroy()
  await eventually(() => informer.lastError !== undefined)
  t.match(informer.lastError, /^The connection to http:.* was lost/)
  await clock.advance(800)
  await eventually(() => watches.length === 2)
  send('DELETED', 'a', 3)
  await eventually(() => informer.store.size === 1)
  t.match(
    server.requests
      .map(({ url }) => new URL(url, server.url))
      .map(({ pathname, searchParams }) => `${pathname} ${searchParams.get('resourceVersion')}`),
    ['/apis/example.com/v1/widgets null', '/apis/example.com/v1/widgets 1', '/apis/example.com/v1/widgets 2'],
  )
  abort.abort()
  await running
  await client.close()
  await server.close()
})

t.test('integers beyond 2^53 are exact in the cache and when written back', async (t) => {
  const text = (value: string, resourceVersion: number): string =>
    `{"metadata":{"namespace":"ns","name":"a","resourceVersion":"${resourceVersion}"},"spec":{"size":${value}}}`
  const watches: ServerResponse[] = []
  const headers = { 'content-type': 'application/json' }
  const server = await startTestServer(({ url, method, body }, response) => {
    if (method === 'PUT') return { headers, body }
    if (!url.includes('watch=true'))
      return { headers, body: `{"metadata":{"resourceVersion":"1"},"items":[${text('9007199254740993', 1)}]}` }
    response.writeHead(200, headers).flushHeaders()
    watches.push(response)
    return undefined
  })
  const client = createClient(server.connection, { userAgent: 'test' })
  const cache = new Cache(client, { logger: recordingLogger().logger, clock: new FakeClock() })
  const { store } = cache.informer(widget)
  const abort = new AbortController()
  const running = cache.start(abort.signal)
  await cache.whenSynced()
  const key = { namespace: 'ns', name: 'a' }
  t.strictSame((store.get(key) as JsonObject | undefined)?.spec, { size: 9007199254740993n }, 'from a list')

  await eventually(() => watches.length === 1)
  watches[0]!.write(`{"type":"MODIFIED","object":${text('-9007199254740995', 2)}}\n`)
  await eventually(() => store.get(key)?.metadata.resourceVersion === '2')
  t.strictSame((store.get(key) as JsonObject | undefined)?.spec, { size: -9007199254740995n }, 'from a watch')

  const object = store.get(key)!
  const written = await client.update(widget, { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } })
  t.match(server.requests.find(({ method }) => method === 'PUT')?.body, '"size":-9007199254740995}')
  t.strictSame((written as unknown as JsonObject).spec, { size: -9007199254740995n })
  abort.abort()
  await running
  await client.close()
  await server.close()
})
