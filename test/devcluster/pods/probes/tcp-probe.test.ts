/** Tests of `tcpSocket` probes with real servers. */
import { createServer } from 'node:net'
import t from 'tap'
import type { ContainerSpec } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { ProbeContext } from '../../../../src/devcluster/pods/probes/probe-context.ts'
import { tcpProbe } from '../../../../src/devcluster/pods/probes/tcp-probe.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { closedPort, listen, loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const clock = new FakeClock()
const contextOf = (changes: Partial<ProbeContext> = {}): ProbeContext => ({
  container: { name: 'main', ports: [{ name: 'db', containerPort: 5432 }] } as ContainerSpec,
  target: loopbackTarget,
  clock,
  timeoutMs: 1000,
  signal: new AbortController().signal,
  ...changes,
})

t.test('a port that accepts a connection is a success, and the connection is closed', async (t) => {
  const listening = await listen(t, createServer())
  t.strictSame(await tcpProbe({ port: listening.port }, contextOf()), { kind: 'success', output: '' })
  await eventually(() => listening.connections === 0)
  t.equal(clock.pending, 0)
})

t.test('a port that refuses a connection is a failure', async (t) => {
  const port = await closedPort()
  const output = `dial tcp 127.0.0.1:${port}: connect: connection refused`
  t.strictSame(await tcpProbe({ port }, contextOf()), { kind: 'failure', output })
})

t.test('the errors of a network have the words of Go', async (t) => {
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'dial tcp [fd00::1]:5432: connect: connection refused',
    EHOSTUNREACH: 'dial tcp [fd00::1]:5432: connect: no route to host',
    ENETUNREACH: 'dial tcp [fd00::1]:5432: connect: network is unreachable',
    ETIMEDOUT: 'dial tcp [fd00::1]:5432: connect: connection timed out',
    EMFILE: 'dial tcp [fd00::1]:5432: the network is full',
  }
  for (const [code, output] of Object.entries(words)) {
    const connect = (): Promise<never> => Promise.reject(Object.assign(new Error('the network is full'), { code }))
    t.strictSame(await tcpProbe({ port: 'db' }, contextOf({ target: { ...loopbackTarget, address: 'fd00::1', connect } })), {
      kind: 'failure',
      output,
    })
  }
})

t.test('a host that has no address is a failure', async (t) => {
  const connect = (): Promise<never> => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
  const target = { ...loopbackTarget, connect }
  t.strictSame(await tcpProbe({ port: 'db', host: 'db.example' }, contextOf({ target })), {
    kind: 'failure',
    output: 'dial tcp: lookup db.example: no such host',
  })
})

t.test('a connection that takes too long is a failure', async (t) => {
  const target = { ...loopbackTarget, address: '10.0.0.1', connect: () => new Promise<never>(() => undefined) }
  const running = tcpProbe({ port: 80 }, contextOf({ target }))
  await clock.advance(1000)
  t.strictSame(await running, { kind: 'failure', output: 'dial tcp 10.0.0.1:80: i/o timeout' })
})

t.test('a probe whose container has ended rejects with the reason', async (t) => {
  const ended = new AbortController()
  const target = { ...loopbackTarget, connect: () => new Promise<never>(() => undefined) }
  const rejection = rejectionOf(tcpProbe({ port: 80 }, contextOf({ target, signal: ended.signal })))
  const reason = new Error('ended')
  ended.abort(reason)
  t.equal(await rejection, reason)
  t.equal(await rejectionOf(tcpProbe({ port: 80 }, contextOf({ target, signal: ended.signal }))), reason)
})
