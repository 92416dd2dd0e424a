import type { ServerResponse } from 'node:http'
import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { Cache } from '../../src/cache/cache.ts'
import { createClient } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { object } from '../support/cache-client.ts'
import { eventually } from '../support/eventually.ts'
import { recordingLogger } from '../support/cache-log.ts'
import { startTestServer } from '../support/client-server.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })

t.test('follows a server over HTTP, also when its connections are torn', async (t) => {
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
