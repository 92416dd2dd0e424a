/** Tests of connections from Pods to servers on the loopback interface of the developer's machine. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import t from 'tap'
import { until } from '../../../../src/testing/until.ts'
import { endpoint, service, slice } from './support/objects.ts'
import { startNetwork } from './support/running-network.ts'
import { needsNamespaces } from './support/test-namespaces.ts'

async function listen(t: { teardown(end: () => void): void }, host: string) {
  const server = createServer((request, response) => response.end(`${request.url} from ${request.socket.remoteAddress}`))
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

t.test('a server that listens on the loopback interface is reached while Pods run', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  const { server, port } = await listen(t, '127.0.0.1')
  const get = (name = 'host.proreus.internal') => pod.run('curl', '-sS', '--max-time', '5', `http://${name}:${port}/x`)
  t.match((await get()).stderr, /refused|connect/, 'no Pod has been declared')
  network.setPod('10.244.0.5', { node: 'node-1' })
  await until('the server', async () => (await get()).stdout === '/x from 127.0.0.1')

  network.setService(service('mine', { clusterIP: '10.96.7.7', ports: [{ port }] }))
  network.setEndpointSlice(slice('mine', [{ port }], [endpoint('10.96.0.2')]))
  await until('a Service with the machine as endpoint', async () => (await get('mine')).stdout === '/x from 127.0.0.1')

  server.close()
  await until('the port is closed', async () => /refused|connect/.test((await get()).stderr))
  const six = await listen(t, '::').catch(() => undefined)
  if (six === undefined) return
  const url = `http://host.proreus.internal:${six.port}/y`
  await until('a server at ::', async () => (await pod.run('curl', '-sS', '--max-time', '5', url)).stdout.startsWith('/y from '))
})

t.test('without host access, neither the address nor the name exists', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t, { hostAccess: false })
  const pod = await namespace.pod(t, '10.244.0.5')
  network.setPod('10.244.0.5', { node: 'node-1' })
  const { port } = await listen(t, '127.0.0.1')
  t.match((await pod.run('curl', '-sS', '--max-time', '5', `http://10.96.0.2:${port}/`)).stderr, /refused|connect/)
  t.equal((await pod.run('getent', 'hosts', 'host.proreus.internal')).code, 2)
})
