import { EventEmitter, once } from 'node:events'
import { createServer, request } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { MemoryBudget } from '../../../src/webhook/body/memory-budget.ts'
import { awaitFetching, onDisconnect } from '../../../src/webhook/http/connections.ts'

t.test('a client that disconnects is reported, also to listeners that are added later', async (t) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const sender = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  sender.on('error', () => undefined)
  sender.end()
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  let calls = 0
  onDisconnect(response, () => (calls += 1))
  const closed = once(response, 'close')
  sender.destroy()
  await closed
  t.equal(calls, 1)
  onDisconnect(response, () => (calls += 1))
  t.equal(calls, 2)
})

t.test('a client that has received its response has not disconnected', async (t) => {
  const response = Object.assign(new EventEmitter(), { closed: false, writableFinished: false })
  let calls = 0
  onDisconnect(response as unknown as ServerResponse, () => (calls += 1))
  Object.assign(response, { closed: true, writableFinished: true })
  response.emit('close')
  onDisconnect(response as unknown as ServerResponse, () => (calls += 1))
  t.equal(calls, 0)
})

t.test('a large answer is charged, and its connection is closed if the client does not read it while others wait for memory', async (t) => {
  const clock = new FakeClock(0)
  const mebibyte = 2 ** 20
  const budget = new MemoryBudget({ total: 4 * mebibyte, reserve: 2 * mebibyte, clock })
  const destroyed: string[] = []
  const send = (name: string, more: number, bytes: number): void => {
    const charge = budget.open()
    charge.grow(1000)
    const destroy = (): void => {
      destroyed.push(name)
      charge.release()
    }
    awaitFetching(charge, more, bytes, { destroy } as unknown as ServerResponse)
  }
  send('small', 64 * 1024, 64 * 1024)
  t.equal(budget.used, 1000, 'the kernel has buffered it')
  send('counted already', 0, 64 * 1024 + 1)
  t.equal(budget.used, 2000)
  send('counted in part', -1, mebibyte)
  t.equal(budget.used, 3000)
  send('large', mebibyte, mebibyte)
  t.equal(budget.used, 4000 + mebibyte)
  await clock.advance(60_000)
  t.strictSame(destroyed, [])
  for (const _ of [1, 2]) budget.open().growLater(2 * mebibyte, () => undefined)
  t.equal(budget.waiting, 1)
  await clock.advance(1000)
  t.strictSame(destroyed, ['counted already', 'counted in part', 'large'])
})
