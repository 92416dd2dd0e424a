/** Tests of the client library `@kubernetes/client-node` with containers: Log, Exec, Attach, Cp and PortForward. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { V1Status } from '@kubernetes/client-node'
import { Attach, Cp, Exec, KubeConfig, Log, PortForward } from '@kubernetes/client-node'
import t from 'tap'
import type { Test } from 'tap'
import type WebSocket from 'ws'
import { pod } from '../../../../src/api/builtin.ts'
import { until } from '../../../../src/testing/until.ts'
import { clientFor } from '../../../support/devcluster/client.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { ProcessContainers } from '../../../support/devcluster/process-containers.ts'
import { echo, startTcpServer } from '../../../support/devcluster/tcp-server.ts'

interface Fixture {
  readonly containers: ProcessContainers
  readonly config: KubeConfig
}

/** Starts a cluster with the Pod `p`. The commands of its container `main` are processes of this machine. */
async function startCluster(t: Test): Promise<Fixture> {
  const containers = new ProcessContainers()
  const cluster = await startTestCluster(t, { containers })
  t.teardown(() => containers.close())
  const client = clientFor(t, cluster.connection)
  await client.raw('/api/v1/namespaces/default/pods', {
    method: 'POST',
    contentType: 'application/json',
    body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
  })
  await until('the Pod runs', async () => (await client.get(pod, { namespace: 'default', name: 'p' })).status?.phase === 'Running')
  const config = new KubeConfig()
  config.loadFromString(cluster.kubeconfigYaml())
  return { containers, config }
}

/** A stream that collects the text that is written to it. */
class Collected extends Writable {
  text = ''
  constructor() {
    super({
      write: (bytes: Buffer, _encoding, callback) => {
        this.text += bytes.toString()
        callback()
      },
    })
  }
}

/** An output stream with the `columns` and `rows` of a terminal. */
class Terminal extends Collected {
  columns = 80
  rows = 24
}

t.test('Exec has input, output, the size of the terminal, and the result', async (t) => {
  const { config, containers } = await startCluster(t)
  const exec = new Exec(config)
  const [stdout, stderr] = [new Collected(), new Collected()]
  const result = new Promise<V1Status>((resolve, reject) => {
    exec.exec('default', 'p', 'main', ['sh', '-c', 'echo out; echo err >&2; exit 3'], stdout, stderr, null, false, resolve).catch(reject)
  })
  t.match(await result, { status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '3' }] } })
  t.strictSame([stdout.text, stderr.text], ['out\n', 'err\n'])

  const [stdin, counted] = [new PassThrough(), new Collected()]
  const done = new Promise<V1Status>((resolve, reject) => {
    exec.exec('default', 'p', 'main', ['wc', '-c'], counted, null, stdin, false, resolve).catch(reject)
  })
  stdin.write('x'.repeat(2_000_000))
  stdin.end('y')
  t.match(await done, { status: 'Success' })
  t.equal(counted.text, '2000001\n')

  const terminal = new Terminal()
  const socket = (await exec.exec('default', 'p', 'main', ['cat'], terminal, null, new PassThrough(), true)) as unknown as WebSocket
  await until('the size arrives', () => containers.sessions[2]?.sizes.includes('80x24'))
  terminal.columns = 100
  terminal.emit('resize')
  await until('the new size arrives', () => containers.sessions[2]?.sizes.includes('100x24'))
  socket.close()
  await until('all sessions are closed', () => containers.sessions.every(({ isClosed }) => isClosed))
  await t.rejects(exec.exec('default', 'absent', 'main', 'ls', stdout, null, null, false))
})

t.test('Attach has the streams of the container', async (t) => {
  const { config, containers } = await startCluster(t)
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  containers.attached = () => ({ stdin, stdout, exited: new Promise(() => undefined) })
  const [input, output] = [new PassThrough(), new Collected()]
  const socket = (await new Attach(config).attach('default', 'p', 'main', output, null, input, false)) as unknown as WebSocket
  stdout.write('from the container')
  await until('the output arrives', () => output.text === 'from the container')
  input.write('from the user')
  await until('the input arrives', () => String(stdin.read() ?? '') === 'from the user')
  socket.close()
  await until('the session is closed', () => containers.sessions[0]?.isClosed)
})

t.test('Cp copies files in both directions', async (t) => {
  const { config, containers } = await startCluster(t)
  const directory = t.testdir()
  for (const name of ['from', 'pod', 'back']) mkdirSync(join(directory, name))
  const large = Buffer.alloc(1_000_000, 'abcdefg')
  writeFileSync(join(directory, 'from/large'), large)
  const cp = new Cp(config)
  const copied = (path: string): Promise<boolean> => until(`${path} is copied`, () => readFileSync(join(directory, path)).equals(large))
  await cp.cpToPod('default', 'p', 'main', join(directory, 'from'), join(directory, 'pod'))
  t.ok(await copied('pod/large'))
  await cp.cpFromPod('default', 'p', 'main', 'large', join(directory, 'back'), join(directory, 'pod'))
  t.ok(await copied('back/large'))
  await until('all sessions are closed', () => containers.sessions.length === 2 && containers.sessions.every(({ isClosed }) => isClosed))
})

t.test('Log passes its options and follows', async (t) => {
  const { config, containers } = await startCluster(t)
  const now = Date.now()
  containers.lines.push({ at: now - 60_000, stream: 'Stdout', text: 'old' }, { at: now, stream: 'Stdout', text: 'new' })
  const log = new Log(config)
  const all = new Collected()
  await log.log('default', 'p', 'main', all)
  await until('all lines arrive', () => all.text === 'old\nnew\n')
  const following = new Collected()
  await log.log('default', 'p', 'main', following, { follow: true, sinceSeconds: 30 })
  await until('the new line arrives', () => following.text === 'new\n')
  containers.followers[0]?.write('newer\n')
  await until('the next line arrives', () => following.text === 'new\nnewer\n')
  containers.followers[0]?.end()
  await until('the log ends', () => following.writableFinished)
  await t.rejects(log.log('default', 'p', 'other', new Collected()), { code: 400 })
})

t.test('PortForward connects with a port', async (t) => {
  const { config, containers } = await startCluster(t)
  const { port, sockets } = await startTcpServer(t, echo)
  containers.ports.set(80, port)
  const forward = new PortForward(config)
  const [input, output, errors] = [new PassThrough(), new Collected(), new Collected()]
  const socket = (await forward.portForward('default', 'p', [80], output, errors, input)) as unknown as WebSocket
  input.write('hello')
  await until('the echo arrives', () => output.text === 'hello')
  socket.close()
  await until('the connection to the Pod is closed', () => sockets[0]?.destroyed)
  await forward.portForward('default', 'p', [81], new Collected(), errors, new PassThrough())
  await until('the error arrives', () => errors.text.includes('connect: connection refused'))
})
