/** Tests of the resolver of the developer's machine. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Resolver } from 'node:dns/promises'
import t from 'tap'
import { systemClock } from '../../../../../src/runtime/clock.ts'
import { machineResolver } from '../../../../../src/devcluster/pods/network/dns/machine-resolver.ts'
import { FakeClock } from '../../../../../src/testing/fake-clock.ts'

const noAnswer = { code: 'SERVFAIL', records: [] }

t.test('without name servers, the answer is SERVFAIL', async (t) => {
  const resolver = new Resolver({ timeout: 100, tries: 1 })
  // The socket finds a free port, and is then closed. After that, no name server listens on this port.
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  resolver.setServers([`127.0.0.1:${port}`])
  t.strictSame(await machineResolver(systemClock, resolver)('www.example.com', 'A'), noAnswer)
})

t.test('a name server that does not answer is given up after the deadline, and questions in excess at once', async (t) => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolver = new Resolver({ timeout: 60_000, tries: 1 })
  t.teardown(() => {
    resolver.cancel()
    socket.close()
  })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  const clock = new FakeClock()
  const resolve = machineResolver(clock, resolver)
  const answers = Array.from({ length: 256 }, () => resolve('www.example.com', 'A'))
  t.strictSame(await resolve('www.example.com', 'A'), noAnswer)
  await clock.advance(4000)
  t.strictSame(
    await Promise.all(answers),
    answers.map(() => noAnswer),
  )
})

t.test('a type that Node.js cannot resolve is not implemented', async (t) => {
  t.strictSame(await machineResolver(systemClock)('www.example.com', 'LOC'), { code: 'NOTIMP', records: [] })
})
