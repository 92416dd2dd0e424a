import { EventEmitter, once } from 'node:events'
import { createServer, request } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { whenSenderGoes } from '../../src/webhook/sender.ts'

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
  whenSenderGoes(response as unknown as ServerResponse, () => t.fail('it has the answer'))
  Object.assign(response, { closed: true, writableFinished: true })
  response.emit('close')
  whenSenderGoes(response as unknown as ServerResponse, () => t.fail('it has the answer'))
})
