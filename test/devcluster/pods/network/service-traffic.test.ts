/** Tests of the traffic through Services: TCP, UDP, session affinity, and `internalTrafficPolicy`. */
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { until } from '../../../../src/testing/until.ts'
import { endpoint, service, slice } from './support/objects.ts'
import { httpServer, startNetwork } from './support/running-network.ts'
import { needsNamespaces } from './support/test-namespaces.ts'

/** The source code of a TCP server. When the client has sent everything, the server sends the received text back in upper case. */
const upperCase = `import { createServer } from 'node:net'
  import { text } from 'node:stream/consumers'
  createServer({ allowHalfOpen: true }, (socket) => text(socket).then((received) => socket.end(received.toUpperCase()), () => socket.destroy()))
    .listen(7, '0.0.0.0', () => console.log('listening'))`

t.test('one direction of a connection ends before the other, and all bytes arrive', needsNamespaces, async (t) => {
  const { network, namespace, connect } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  await pod.serve(t, upperCase)
  network.setService(service('echo', { clusterIP: '10.96.7.7', ports: [{ port: 70 }] }))
  network.setEndpointSlice(slice('echo', [{ port: 7 }], [endpoint('10.244.0.5')]))
  const socket = await until('the connection', () => connect('10.96.7.7', 70))
  socket.end('a'.repeat(5_000_000))
  t.equal(await text(socket), 'A'.repeat(5_000_000))
})

t.test('a server that does not read slows its client down', needsNamespaces, async (t) => {
  const { network, namespace, connect } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  const code = `import { createServer } from 'node:net'
    createServer({ pauseOnConnect: true }, () => undefined).listen(7, '0.0.0.0', () => console.log('listening'))`
  await pod.serve(t, code)
  network.setService(service('slow', { clusterIP: '10.96.7.7', ports: [{ port: 7 }] }))
  network.setEndpointSlice(slice('slow', [{ port: 7 }], [endpoint('10.244.0.5')]))
  const socket = await until('the connection', () => connect('10.96.7.7', 7))
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined)
  const chunk = Buffer.alloc(1_000_000)
  const limit = 200
  let written = 0
  while (written < limit) {
    written += 1
    if (socket.write(chunk)) continue
    const drained = new Promise((resolve) => socket.once('drain', () => resolve(true)))
    if (!(await Promise.race([drained, new Promise((resolve) => setTimeout(() => resolve(false), 500))]))) break
  }
  t.ok(written < limit, 'the client had to wait')
})

t.test('a reset reaches the other side', needsNamespaces, async (t) => {
  const { network, namespace, connect } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  const code = `import { createServer } from 'node:net'
    createServer((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(7, '0.0.0.0', () => console.log('listening'))`
  await pod.serve(t, code)
  network.setService(service('reset', { clusterIP: '10.96.7.7', ports: [{ port: 7 }, { name: 'dead', port: 8 }] }))
  network.setEndpointSlice(slice('reset', [{ port: 7 }, { name: 'dead', port: 8 }], [endpoint('10.244.0.5')]))
  const socket = await until('the connection', () => connect('10.96.7.7', 7))
  socket.write('x')
  await t.rejects(once(socket, 'end'), { code: 'ECONNRESET' })
  // The connection may be reset before the client reports that it is connected.
  const dead = connect('10.96.7.7', 8).then((connected) => once(connected.resume(), 'end'))
  await t.rejects(dead, { code: 'ECONNRESET' }, 'an endpoint that refuses the connection')
})

t.test('when a Pod is removed, connections to it are reset', needsNamespaces, async (t) => {
  const { network, namespace, connect } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  await pod.serve(t, upperCase)
  network.setPod('10.244.0.5', { node: 'node-1' })
  network.setService(service('echo', { clusterIP: '10.96.7.7', ports: [{ port: 7 }] }))
  network.setEndpointSlice(slice('echo', [{ port: 7 }], [endpoint('10.244.0.5')]))
  const socket = await until('the connection', () => connect('10.96.7.7', 7))
  socket.write('x')
  socket.resume()
  network.removePod('10.244.0.5')
  await t.rejects(once(socket, 'end'), { code: 'ECONNRESET' })
})

t.test('datagrams lead to an endpoint, and its responses to the client', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  for (const address of ['10.244.0.5', '10.244.0.6']) {
    const pod = await namespace.pod(t, address)
    // The first datagram comes from a port other than the port of the endpoint. This datagram must not reach the client.
    const code = `import { createSocket } from 'node:dgram'
      const [socket, stranger] = [createSocket('udp4'), createSocket('udp4')]
      socket.on('message', (message, client) => stranger.send('stranger', client.port, client.address, () =>
        socket.send('${address} ' + message, client.port, client.address)))
      socket.bind(53, '0.0.0.0', () => console.log('listening'))`
    await pod.serve(t, code)
  }
  network.setService(service('udp', { clusterIP: '10.96.7.7', ports: [{ port: 5353, protocol: 'UDP' }] }))
  network.setEndpointSlice(slice('udp', [{ port: 53, protocol: 'UDP' }], [endpoint('10.244.0.5')]))
  const client = await namespace.pod(t, '10.244.0.4')
  const send = `import { createSocket } from 'node:dgram'
    const socket = createSocket('udp4')
    socket.on('message', (message) => { console.log(String(message)); socket.close() })
    socket.on('error', (error) => { console.log(error.code); socket.close() })
    socket.connect(5353, '10.96.7.7', () => socket.send('hello'))`
  const answer = () => client.script(send)
  await until('the answer of one endpoint', async () => (await answer()).stdout === '10.244.0.5 hello\n')
  network.setEndpointSlice(slice('udp', [{ port: 53, protocol: 'UDP' }], [endpoint('10.244.0.6')]))
  await until('the answer of the other endpoint', async () => (await answer()).stdout === '10.244.0.6 hello\n')
  network.removeEndpointSlice({ namespace: 'default', name: 'udp-x' })
  await until('the refusal', async () => (await answer()).stdout === 'ECONNREFUSED\n')
})

t.test('session affinity and internalTrafficPolicy choose the endpoint by the client', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  const nodes = { '10.244.0.5': 'node-1', '10.244.0.6': 'node-2' }
  const pods = await Promise.all(Object.keys(nodes).map((address) => namespace.pod(t, address)))
  for (const [index, [address, node]] of Object.entries(nodes).entries()) {
    await pods[index]!.serve(t, httpServer(node, 80))
    network.setPod(address, { node })
  }
  const endpoints = Object.entries(nodes).map(([address, nodeName]) => endpoint(address, { nodeName }))
  network.setService(service('sticky', { clusterIP: '10.96.7.7', sessionAffinity: 'ClientIP', ports: [{ port: 80 }] }))
  network.setEndpointSlice(slice('sticky', [{ port: 80 }], endpoints))
  network.setService(service('local', { clusterIP: '10.96.7.8', internalTrafficPolicy: 'Local', ports: [{ port: 80 }] }))
  network.setEndpointSlice(slice('local', [{ port: 80 }], endpoints))
  const get = async (index: number, name: string) => (await pods[index]!.run('curl', '-sS', `http://${name}/`)).stdout.split(' ')[0]
  await until('the Services', async () => (await get(0, 'local')) !== '')
  const answers: (string | undefined)[] = []
  for (let request = 0; request < 8; request += 1) answers.push(await get(0, 'sticky'))
  t.equal(new Set(answers).size, 1, 'one endpoint')
  for (let request = 0; request < 4; request += 1) t.strictSame([await get(0, 'local'), await get(1, 'local')], ['node-1', 'node-2'])

  const other = await namespace.pod(t, '10.244.0.4')
  network.setPod('10.244.0.4', { node: 'node-3' })
  await until('a client on a node without endpoints is refused', async () => (await other.run('curl', '-sS', 'http://local/')).code !== 0)
})

t.test('an endpoint in the range of cluster IPs is ignored, and so is a cluster IP outside of it', needsNamespaces, async (t) => {
  const { network, connect } = await startNetwork(t)
  network.setService(service('circle', { clusterIP: '10.96.7.7', ports: [{ port: 7 }] }))
  network.setEndpointSlice(slice('circle', [{ port: 7 }], [endpoint('10.96.7.7'), endpoint('127.0.0.1'), endpoint('0.0.0.0')]))
  network.setService(service('outside', { clusterIP: '10.244.0.1', ports: [{ port: 7 }] }))
  network.setEndpointSlice(slice('outside', [{ port: 7 }], [endpoint('10.244.0.1')]))
  network.setService(service('marker', { clusterIP: '10.96.7.9', ports: [{ port: 7 }] }))
  network.setEndpointSlice(slice('marker', [{ port: 7 }], [endpoint('10.244.0.1')]))
  const marker = await until('the last change has arrived', () => connect('10.96.7.9', 7))
  marker.destroy()
  await t.rejects(connect('10.96.7.7', 7), { message: 'connect ECONNREFUSED 10.96.7.7:7' })
  await t.rejects(connect('10.244.0.1', 7), /ECONNREFUSED/)
})
