/**
 * Tests of the connector. The connector starts a process in a network, and this process connects to ports in the network. In these tests,
 * the network is the network of the machine.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { Connector } from '../../../../src/devcluster/pods/namespaces/connector.ts'
import { until } from '../../../../src/testing/until.ts'

async function startServer(t: Test): Promise<number> {
  const server = createServer((socket) => socket.end('welcome'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Starts a connector. `pids` returns the ids of all processes that the connector has started. */
function startConnector(t: Test): { readonly connector: Connector; readonly pids: () => readonly number[] } {
  const file = join(t.testdir({ pids: '' }), 'pids')
  const connector = new Connector(['sh', '-c', 'echo $$ >>"$0" && exec "$@"', file])
  t.teardown(() => connector.close())
  return { connector, pids: () => readFileSync(file, 'utf8').trim().split('\n').map(Number) }
}

async function greeting(connector: Connector, port: number): Promise<string> {
  const socket = await connector.connect(port, '127.0.0.1')
  const [data] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return data.toString()
}

t.test('a connector whose process was killed connects again with another one', async (t) => {
  const port = await startServer(t)
  const { connector, pids } = startConnector(t)
  t.equal(await greeting(connector, port), 'welcome')
  process.kill(pids()[0]!, 'SIGKILL')
  t.equal(await until('the connection', () => greeting(connector, port)), 'welcome')
  t.equal(pids().length, 2)
})

t.test('a closed connector starts no process', async (t) => {
  const { connector, pids } = startConnector(t)
  await t.rejects(connector.connect(1, '127.0.0.1'), { code: 'ECONNREFUSED' })
  await connector.close()
  await t.rejects(connector.connect(1, '127.0.0.1'), { message: 'cannot connect to 127.0.0.1:1: the network has been removed' })
  t.equal(pids().length, 1)
})

t.test('the error of a process that cannot be started is the cause', async (t) => {
  const connector = new Connector(['sh', '-c', 'echo not permitted >&2; exit 1'])
  t.teardown(() => connector.close())
  await t.rejects(connector.connect(1, '127.0.0.1'), { message: 'not permitted' })
})
