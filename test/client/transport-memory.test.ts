/** Tests that requests, streams and connections that have ended leave nothing in the memory of the transport. */
import { Socket } from 'node:net'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { Test } from 'tap'
import { createTransport } from '../../src/client/transport.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const get = { method: 'GET', path: '/api/v1/pods' }

/** Resolves with true when the garbage collector frees all of the objects. */
async function areFreed(objects: readonly WeakRef<object>[]): Promise<boolean> {
  return eventually(() => (collect(), objects.every((object) => object.deref() === undefined))).then(
    () => true,
    () => false,
  )
}

/** Returns an array to which each new `AbortController` is added. */
function trackControllers(t: Test): WeakRef<object>[] {
  const controllers: WeakRef<object>[] = []
  const Original = AbortController
  t.teardown(() => (globalThis.AbortController = Original))
  globalThis.AbortController = class extends Original {
    constructor() {
      super()
      controllers.push(new WeakRef(this))
    }
  }
  return controllers
}

t.test('requests and streams that have ended are freed', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  await transport.request(get)
  const controllers = trackControllers(t)
  for (let count = 0; count < 3; count += 1) {
    await transport.request(get)
    for await (const _ of await transport.stream(get));
  }
  t.ok(controllers.length >= 6)
  t.equal(await areFreed(controllers), true)
})

t.test('the texts of earlier responses do not remain in memory until a full garbage collection', async (t) => {
  const item = { metadata: { name: 'a' }, spec: { text: 'x'.repeat(1000), list: ['1', '2', '3'] } }
  const list = Buffer.from(JSON.stringify({ items: new Array(700).fill(item) }))
  const server = await startTestServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(list)
    return undefined
  })
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  collect()
  const before = largeObjectBytes()
  const count = 40
  for (let index = 0; index < count; index += 1) await transport.request(get)
  t.ok(largeObjectBytes() - before < (count * list.length) / 2)
})

t.test('requests whose credentials cannot be loaded are freed', async (t) => {
  const authorization = (): Promise<never> => Promise.reject(new Error('no token'))
  const transport = createTransport({ server: 'https://localhost', describe: 'a test', authorization })
  t.teardown(() => transport.close())
  const controllers = trackControllers(t)
  for (let count = 0; count < 3; count += 1) await transport.request(get).catch(() => undefined)
  t.equal(controllers.length, 3)
  t.equal(await areFreed(controllers), true)
})

t.test('connections that have ended are freed', async (t) => {
  const server = await startTestServer(() => ({ headers: { connection: 'close' } }))
  const transport = createTransport(server.connection)
  t.teardown(async () => (await transport.close(), await server.close()))
  const sockets: WeakRef<object>[] = []
  const original = Reflect.get(Socket.prototype, 'setKeepAlive') as (...args: unknown[]) => Socket
  t.teardown(() => Object.assign(Socket.prototype, { setKeepAlive: original }))
  Object.assign(Socket.prototype, {
    setKeepAlive(this: Socket, ...args: unknown[]) {
      sockets.push(new WeakRef(this))
      return original.apply(this, args)
    },
  })
  for (let count = 0; count < 4; count += 1) await transport.request(get)
  t.equal(sockets.length, 4)
  // undici may keep a reference to the latest socket until it opens the next connection.
  t.equal(await areFreed(sockets.slice(0, -1)), true)
})

/** Returns the total size of the large objects on the heap. Garbage since the last collection is included. */
function largeObjectBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'large_object_space')!.space_used_size
}
