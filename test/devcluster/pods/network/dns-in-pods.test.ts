/** Tests of DNS in the network namespaces of Pods. Most tests resolve names with getent and Node.js. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Resolver } from 'node:dns/promises'
import { text } from 'node:stream/consumers'
import { decode, encode } from 'dns-packet'
import t from 'tap'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { machineResolver } from '../../../../src/devcluster/pods/network/dns/machine-resolver.ts'
import { until } from '../../../../src/testing/until.ts'
import { endpoint, service, slice } from './support/objects.ts'
import { startNetwork } from './support/running-network.ts'
import { needsNamespaces } from './support/test-namespaces.ts'

t.test('names of Services and Pods are resolved by getent and Node.js', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5', 'db')
  network.setService(service('mypostgres', { clusterIP: 'None', ports: [{ name: 'pg', port: 5432 }] }, 'db'))
  const endpoints = [endpoint('10.244.0.6', { hostname: 'mypostgres-1-0' }), endpoint('10.244.0.7', { hostname: 'mypostgres-2-0' })]
  network.setEndpointSlice(slice('mypostgres', [{ name: 'pg', port: 5432 }], endpoints, 'db'))
  network.setService(service('web', { clusterIP: '10.96.7.7', ports: [{ name: 'http', port: 80 }] }))
  const getent = async (name: string) => (await pod.run('getent', 'ahostsv4', name)).stdout.split(/\s+/)[0]
  await until('the Service', async () => (await getent('web.default')) === '10.96.7.7')
  t.equal(await getent('mypostgres-1-0.mypostgres'), '10.244.0.6')
  t.equal(await getent('mypostgres-2-0.mypostgres.db.svc.cluster.local'), '10.244.0.7')
  t.equal(await getent('10-244-0-9.db.pod.cluster.local'), '10.244.0.9')
  t.equal((await pod.run('getent', 'hosts', 'web')).code, 2, 'a Service of another namespace')
  t.match((await pod.run('getent', 'hosts', '10.96.7.7')).stdout, 'web.default.svc.cluster.local')

  const code = `import dns from 'node:dns/promises'
    const name = 'mypostgres.db.svc.cluster.local'
    const code = (error) => error.code
    console.log(JSON.stringify({
      lookup: await dns.lookup('web.default', { all: true }),
      a: (await dns.resolve4(name)).sort(),
      aaaa: await dns.resolve6(name).catch(code),
      absent: await dns.resolve4('absent.db.svc.cluster.local').catch(code),
      srv: (await dns.resolveSrv('_pg._tcp.' + name)).map(({ name, port }) => name + ':' + port).sort(),
      txt: await dns.resolveTxt('dns-version.cluster.local'),
    }))`
  const { stdout } = await pod.script(code)
  t.strictSame(JSON.parse(stdout), {
    lookup: [{ address: '10.96.7.7', family: 4 }],
    a: ['10.244.0.6', '10.244.0.7'],
    aaaa: 'ENODATA',
    absent: 'ENOTFOUND',
    srv: ['mypostgres-1-0.mypostgres.db.svc.cluster.local:5432', 'mypostgres-2-0.mypostgres.db.svc.cluster.local:5432'],
    txt: [['1.1.0']],
  })
})

t.test('an answer that does not fit a datagram is sent over TCP', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  const endpoints = Array.from({ length: 300 }, (_, index) => endpoint(`10.244.1.${index % 250}`, { hostname: `pod-${index}` }))
  network.setService(service('large', { clusterIP: 'None', ports: [{ port: 80 }] }))
  network.setEndpointSlice(slice('large', [{ port: 80 }], endpoints))
  const code = `import dns from 'node:dns/promises'
    console.log((await dns.resolve4('large.default.svc.cluster.local')).length)`
  await until('all addresses', async () => (await pod.script(code)).stdout === '250\n')
  t.equal((await pod.run('getent', 'ahostsv4', 'large')).stdout.match(/STREAM/g)?.length, 250)
})

t.test('names outside of the cluster are resolved by the machine', needsNamespaces, async (t) => {
  const upstream = await fakeNameServer(t)
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([upstream])
  const { network, namespace } = await startNetwork(t, { resolve: machineResolver(systemClock, resolver) })
  const pod = await namespace.pod(t, '10.244.0.5')
  network.setService(service('alias', { type: 'ExternalName', externalName: 'www.example.com' }))
  network.setService(service('circle', { type: 'ExternalName', externalName: 'circle.default.svc.cluster.local' }))
  const code = `import dns from 'node:dns/promises'
    const code = (error) => error.code
    console.log(JSON.stringify({
      found: await dns.resolve4('www.example.com', { ttl: true }),
      absent: await dns.resolve4('absent.example.com').catch(code),
      failing: await dns.resolve4('failing.example.com').catch(code),
      alias: await dns.resolve4('alias.default.svc.cluster.local').catch(code),
      cname: await dns.resolveCname('alias.default.svc.cluster.local').catch(code),
      circle: await dns.resolve4('circle.default.svc.cluster.local').catch(code),
      reverse: await dns.reverse('10.244.9.9').catch(code),
      host: await dns.resolve4('host.proreus.internal').catch(code),
    }))`
  const expected = {
    found: [{ address: '192.0.2.53', ttl: 77 }],
    absent: 'ENOTFOUND',
    failing: 'ESERVFAIL',
    alias: ['192.0.2.53'],
    cname: ['www.example.com'],
    circle: 'ESERVFAIL',
    reverse: 'ENOTFOUND',
    host: ['10.96.0.2'],
  }
  await until('the Services', async () => (await pod.run('getent', 'ahostsv4', 'alias')).code === 0)
  t.strictSame(JSON.parse((await pod.script(code)).stdout), expected)
})

t.test('hostile messages get an error or nothing, and the server goes on', needsNamespaces, async (t) => {
  const { connect } = await startNetwork(t)
  const question = encode({ id: 7, questions: [{ name: 'kubernetes.default.svc.cluster.local', type: 'A' }] })
  const framed = (message: Buffer) => Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message])
  const ask = async (bytes: Buffer) => {
    const socket = await connect('10.96.0.10', 53)
    socket.on('error', () => undefined)
    socket.end(bytes)
    return Buffer.from(await text(socket.setEncoding('latin1')), 'latin1')
  }
  const hostile = [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from([0xff, 0xff, 0, 0]),
    framed(Buffer.alloc(0)),
    framed(Buffer.alloc(12)),
    framed(Buffer.concat([Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), Buffer.from([0xc0, 12, 0, 1, 0, 1])])),
    framed(Buffer.concat([question.subarray(0, 4), Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), question.subarray(12)])),
    framed(question.subarray(0, 20)),
  ]
  for (const bytes of hostile) await ask(bytes)
  const answer = decode((await ask(Buffer.concat([framed(question), framed(question)]))).subarray(2))
  t.strictSame([answer.id, answer.flag_qr], [7, true])
})

/** Starts a name server for some names of `example.com`. Returns its address and port. */
async function fakeNameServer(t: { teardown(end: () => void): void }): Promise<string> {
  const socket = createSocket('udp4')
  t.teardown(() => socket.close())
  socket.on('message', (message, client) => {
    const { id = 0, questions = [] } = decode(message)
    const name = questions[0]!.name
    const code = name === 'www.example.com' ? 0 : name === 'failing.example.com' ? 2 : 3
    const answers = code === 0 ? [{ type: 'A' as const, name, ttl: 77, data: '192.0.2.53' }] : []
    socket.send(encode({ type: 'response', id, flags: code, questions, answers }), client.port, client.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}
