import { EventEmitter, once } from 'node:events'
import { createServer, request } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { MemoryBudget } from '../../src/webhook/body/budget.ts'
import { awaitFetching, whenSenderGoes } from '../../src/webhook/sender.ts'

t.test('a sender that goes is told of, also to who asks later', async (t) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const sender = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  sender.on('error', () => undefined)
  sender.end()
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  let told = 0
  whenSenderGoes(response, () => (told += 1))
  const closed = once(response, 'close')
  sender.destroy()
  await closed
  t.equal(told, 1)
  whenSenderGoes(response, () => (told += 1))
  t.equal(told, 2)
})

t.test('a sender that has its answer has not gone', async (t) => {
  const response = Object.assign(new EventEmitter(), { closed: false, writableFinished: false })
  let told = 0
  whenSenderGoes(response as unknown as ServerResponse, () => (told += 1))
  Object.assign(response, { closed: true, writableFinished: true })
  response.emit('close')
  whenSenderGoes(response as unknown as ServerResponse, () => (told += 1))
  t.equal(told, 0)
})

t.test('a large answer is counted, and ends its connection when it is not fetched while others wait for memory', async (t) => {
  const clock = new FakeClock(0)
  const mebibyte = 2 ** 20
  const budget = new MemoryBudget({ total: 4 * mebibyte, reserve: 2 * mebibyte, clock })
  const destroyed: string[] = []
  const sent = (name: string, more: number, bytes: number): void => {
    const charge = budget.open()
    charge.grow(1000)
    const destroy = (): void => {
      destroyed.push(name)
      charge.release()
    }
    awaitFetching(charge, more, bytes, { destroy } as unknown as ServerResponse)
  }
  sent('small', 64 * 1024, 64 * 1024)
  t.equal(budget.used, 1000, 'the kernel has it')
  sent('counted already', 0, 64 * 1024 + 1)
  t.equal(budget.used, 2000)
  sent('counted in part', -1, mebibyte)
  t.equal(budget.used, 3000)
  sent('large', mebibyte, mebibyte)
  t.equal(budget.used, 4000 + mebibyte)
  await clock.advance(60_000)
  t.strictSame(destroyed, [])
  for (const _ of [1, 2]) budget.open().growLater(2 * mebibyte, () => undefined)
  t.equal(budget.waiting, 1)
  await clock.advance(1000)
  t.strictSame(destroyed, ['counted already', 'counted in part', 'large'])
})
