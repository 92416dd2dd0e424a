/**
 * Test cases for networks: Pods with the same port, connections to Pods from other Pods and from Proreus, and programs outside of Pods that
 * run in the network namespace of the cluster.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { ContainerProcess, PodSandbox } from '../../../../../src/devcluster/pods/driver.ts'
import { environment, outcome, run, start, world } from './driver.ts'
import { nodeProgram } from '../../../../support/pods/node-program.ts'

/** Starts a server that sends a text as soon as a client connects. */
async function serve(pod: PodSandbox, answer: string, port: number, host = '0.0.0.0'): Promise<ContainerProcess> {
  const program = `require('node:net').createServer((socket) => socket.end(${JSON.stringify(answer)})).listen(${port}, '${host}', () => console.log('listening'))`
  const user = { uid: 999, gid: 999, supplementalGroups: [] }
  const server = await start(pod, [nodeProgram, '-e', program], { environment, user })
  server.stderr!.pipe(process.stderr)
  await once(server.stdout, 'readable')
  return server
}

async function received(connection: Promise<Duplex>): Promise<string> {
  const socket = await connection
  const answer = await text(socket)
  socket.destroy()
  return answer
}

const client = (host: string, port: number): string[] => [
  nodeProgram,
  '-e',
  `require('node:net').connect(${port}, '${host}').on('error', (error) => console.log(error.code)).pipe(process.stdout)`,
]

t.test('each Pod has its own ports and address, and reaches the others', async (t) => {
  const { pod } = await world(t)
  const [one, two] = [await pod(), await pod()]
  t.strictSame([one.address, two.address], ['10.244.0.2', '10.244.0.3'])
  await Promise.all([serve(one, 'one', 80), serve(two, 'two', 80)])
  for (const [from, host, expected] of [
    [one, '10.244.0.3', 'two'],
    [two, '10.244.0.2', 'one'],
    [one, '127.0.0.1', 'one'],
    [two, '127.0.0.1', 'two'],
  ] as const)
    t.equal((await outcome(await start(from, client(host, 80)))).stdout.trim(), expected)
  t.equal(await received(one.connect(80)), 'one')
  t.equal(await received(two.connect(80, '10.244.0.3')), 'two')
  t.equal(await received(one.connect(80, '10.244.0.3')), 'two')
  await t.rejects(one.connect(81), { code: 'ECONNREFUSED' })
  await t.rejects(one.connect(81, one.address), { code: 'ECONNREFUSED', message: /10\.244\.0\.2:81/ })
  await t.rejects(one.connect(0x10000), { code: 'ERR_SOCKET_BAD_PORT' })
})

t.test('a server that listens on the loopback address of its Pod', async (t) => {
  const one = await (await world(t)).pod()
  await serve(one, 'local', 8080, '127.0.0.1')
  t.equal(await received(one.connect(8080)), 'local')
  t.equal(await received(one.connect(8080, 'localhost')), 'local')
  await t.rejects(one.connect(8080, one.address), { code: 'ECONNREFUSED' })
  await one.remove()
  await t.rejects(one.connect(8080), /has been removed/)
})

t.test('many connections at once', async (t) => {
  const one = await (await world(t)).pod()
  await serve(one, 'x'.repeat(100_000), 80)
  const answers = await Promise.all(Array.from({ length: 50 }, () => received(one.connect(80, one.address))))
  t.ok(answers.every((answer) => answer.length === 100_000))
})

t.test('a Pod in the network of the cluster', async (t) => {
  const { pod } = await world(t)
  const [host, other] = [await pod({ hostNetwork: true, hostname: 'node' }), await pod()]
  t.equal(host.address, '10.244.0.1')
  await serve(host, 'host', 80)
  t.equal(await received(host.connect(80)), 'host')
  t.equal((await outcome(await start(other, client('10.244.0.1', 80)))).stdout.trim(), 'host')
  t.equal((await run(host, 'hostname; ls /sys/class/net | grep -c pod')).stdout, 'node\n2\n')
})

t.test('a new Pod gets the address of a removed one', async (t) => {
  const { driver, pod } = await world(t)
  const other = await pod()
  const options = { hostname: 'x', address: '10.244.1.1', hostNetwork: false }
  for (const answer of ['first', 'second', 'third']) {
    const one = await driver.createSandbox(options)
    await serve(one, answer, 80)
    t.equal((await outcome(await start(other, client(options.address, 80)))).stdout.trim(), answer)
    t.equal(await received(one.connect(80, options.address)), answer)
    await one.remove()
  }
})

t.test('another range of addresses', async (t) => {
  const { driver } = await world(t, { bridgeAddress: '10.99.0.1/24' })
  const one = await driver.createSandbox({ hostname: 'x', address: '10.99.0.7', hostNetwork: false })
  t.match((await run(one, 'cat /proc/net/fib_trie')).stdout, /10\.99\.0\.7/)
  await t.rejects(world(t, { bridgeAddress: '10.99.0.1' }), { code: 'PRO_CONFIG_INVALID' })
  await t.rejects(driver.createSandbox({ hostname: 'x', address: 'eth0 type', hostNetwork: false }), /expected an IPv4 address/)
})

t.test('a program enters the network of the cluster, and ends with the driver', async (t) => {
  const { driver, pod } = await world(t)
  const one = await pod()
  const [program = '', ...words] = driver.enterNetwork()
  const script = `require('node:net').createServer((socket) => socket.end('service')).listen(443, '10.244.0.1', () => process.send('listening'))`
  const entered = spawn(program, [...words, process.execPath, '-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(entered, 'exit')
  t.strictSame(await once(entered, 'message'), ['listening', undefined])
  t.equal((await outcome(await start(one, client('10.244.0.1', 443)))).stdout.trim(), 'service')
  const other = spawn(program, [...words, 'sleep', '1000'], { stdio: 'ignore' })
  other.kill()
  await once(other, 'exit')
  await driver.close()
  t.strictSame(await ended, [null, 'SIGKILL'])
})
