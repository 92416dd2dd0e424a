/** Tests of the network of the cluster with real programs in network namespaces. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { ClusterNetwork } from '../../../../src/devcluster/pods/network/cluster-network.ts'
import { until } from '../../../../src/testing/until.ts'
import { recordingLogger } from '../../../support/recording-logger.ts'
import { endpoint, service, slice } from './support/objects.ts'
import { httpServer, startNetwork } from './support/running-network.ts'
import { TestNamespace, needsNamespaces } from './support/test-namespaces.ts'

t.test('a Service leads to its ready endpoints', needsNamespaces, async (t) => {
  const { network, namespace } = await startNetwork(t)
  const client = await namespace.pod(t, '10.244.0.4')
  for (const address of ['10.244.0.5', '10.244.0.6']) {
    const pod = await namespace.pod(t, address)
    await pod.serve(t, httpServer(`pod ${address}`, 8080))
    network.setPod(address, { node: 'node-1' })
  }
  const get = async () => (await client.run('curl', '-sS', '--max-time', '5', 'http://web/')).stdout || undefined
  const refused = () => client.run('curl', '-sS', '--max-time', '5', 'http://web/')

  network.setService(service('web', { clusterIP: '10.96.7.7', ports: [{ port: 80, targetPort: 'http' }] }))
  await until('the name is resolved', async () => (await client.run('getent', 'hosts', 'web')).stdout.startsWith('10.96.7.7'))
  t.match((await refused()).stderr, /Connection refused|Couldn't connect/, 'without endpoints the connection is refused')

  network.setEndpointSlice(slice('web', [{ port: 8080 }], [endpoint('10.244.0.5')]))
  t.equal(await until('one endpoint', get), 'pod 10.244.0.5 10.244.0.1')
  network.setEndpointSlice(slice('web', [{ port: 8080 }], [endpoint('10.244.0.5'), endpoint('10.244.0.6')]))
  const seen = new Set<string>()
  await until('both endpoints are chosen', async () => seen.add((await get())!).size === 2)
  t.strictSame([...seen].sort(), ['pod 10.244.0.5 10.244.0.1', 'pod 10.244.0.6 10.244.0.1'])
  network.setEndpointSlice(
    slice('web', [{ port: 8080 }], [endpoint('10.244.0.5', { conditions: { ready: false } }), endpoint('10.244.0.6')]),
  )
  await until('the endpoint that is not ready is left out', async () => {
    const answers = [await get(), await get(), await get(), await get()]
    return answers.every((answer) => answer === 'pod 10.244.0.6 10.244.0.1')
  })

  network.removeEndpointSlice({ namespace: 'default', name: 'web-x' })
  await until('the connection is refused again', async () => /refused|connect/.test((await refused()).stderr))
  network.removeService({ namespace: 'default', name: 'web' })
  await until('the name is gone', async () => (await client.run('getent', 'hosts', 'web')).code === 2)
})

t.test('the API server is reached at its address and name', needsNamespaces, async (t) => {
  const server = createServer((request, response) => response.end(`${request.url} from ${request.socket.remoteAddress}`))
  const { network, namespace } = await startNetwork(t, { acceptApiServer: (socket) => server.emit('connection', socket) })
  network.setService(service('kubernetes', { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] }))
  const pod = await namespace.pod(t, '10.244.0.5')
  const url = 'http://kubernetes.default.svc.cluster.local:443/version'
  const { stdout } = await until('a response', async () => {
    const found = await pod.run('curl', '-sS', '--max-time', '5', url)
    return found.code === 0 && found
  })
  t.equal(stdout, '/version from 10.244.0.5')
})

t.test('the agent is started again when it ends, with all Services and Pods', needsNamespaces, async (t) => {
  const { network, namespace, lines } = await startNetwork(t)
  const pod = await namespace.pod(t, '10.244.0.5')
  await pod.serve(t, httpServer('pod', 80))
  network.setPod('10.244.0.5', { node: 'node-1' })
  network.setService(service('web', { clusterIP: '10.96.7.7', ports: [{ port: 80 }] }))
  network.setEndpointSlice(slice('web', [{ port: 80 }], [endpoint('10.244.0.5')]))
  // The endpoint of the Service `far` is not on the node of the client, so `internalTrafficPolicy: Local` excludes the endpoint. If the
  // agent does not know that the client is a Pod, the agent ignores `internalTrafficPolicy`, and the client can reach the endpoint.
  network.setService(service('far', { clusterIP: '10.96.7.8', internalTrafficPolicy: 'Local', ports: [{ port: 80 }] }))
  network.setEndpointSlice(slice('far', [{ port: 80 }], [endpoint('10.244.0.5', { nodeName: 'node-2' })]))
  const works = async () => (await pod.run('curl', '-sS', 'http://web/')).code === 0
  await until('the Service', works)
  const [agent] = childrenOf(process.pid).filter((pid) => commandOf(pid).includes('network-agent-process'))
  process.kill(agent!, 'SIGKILL')
  await until('the end of the agent is logged', () => lines.length > 0)
  t.strictSame(lines, ['error: the agent of the network of the cluster has ended and is started again: SIGKILL'])
  await until('the Service works again', works)
  const far = () => pod.run('curl', '-sS', '--max-time', '5', 'http://far/')
  await until('the endpoint on another node is refused', async () => /refused|connect/.test((await far()).stderr))
})

t.test('the agent ends with its parent, even after kill -9', needsNamespaces, async (t) => {
  const namespace = await TestNamespace.cluster(t)
  const script = join(import.meta.dirname, 'support/network-parent.ts')
  const parent = spawn(process.execPath, ['--conditions=proreus-source', script, ...namespace.enter], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  t.equal(String(line), 'started\n')
  const agents = childrenOf(parent.pid!)
  t.equal(agents.length, 1)
  parent.kill('SIGKILL')
  await until('the agent has ended', () => commandOf(agents[0]!) === '')
})

t.test('an agent that cannot start is reported with the reason', async (t) => {
  const { logger } = recordingLogger()
  const start = (enterNetwork: readonly string[]) => ClusterNetwork.start({ enterNetwork, acceptApiServer: () => undefined, logger })
  await t.rejects(start(['/does/not/exist']), { message: 'spawn /does/not/exist ENOENT' })
  await t.rejects(start(['sh', '-c', 'echo no such namespace >&2; exit 3']), { message: 'exit code 3: no such namespace' })
})

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Returns the command line of a process. Returns an empty text if the process has ended, even if it is still a zombie. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
