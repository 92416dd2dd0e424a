/**
 * Runs the container of a Pod as a process on this machine. The process listens at an address that the API server accepts as the endpoint
 * of a Service:
 *
 * - With the embedded API server, this address is a loopback address.
 * - kube-apiserver rejects loopback addresses as endpoints, so each Pod gets its own network namespace. As in a cluster, the container also
 *   gets a read-only root file system and an unprivileged user.
 *
 * The network namespace has no name, so the kernel removes it when its last process ends, even if the process is killed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import { finished, hasEnded, runningOf, type Running } from '../process/process.ts'

export interface PodHost {
  /** The address of the Pod in EndpointSlices. */
  readonly address: string
  /** The environment variables with the address of the API server, as in a Pod. */
  readonly env: Readonly<Record<string, string>>
  /** Additional arguments of the container's process, which select free ports. They are needed when all Pods share the loopback address. */
  readonly args: readonly string[]
  /** Starts the process of the container. */
  start(command: readonly string[], options: ContainerOptions): Running
}

export interface ContainerOptions {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** The folder that replaces the service account's volume. */
  readonly serviceAccountDir: string
}

const usesNamespaces = process.env.PROREUS_BACKEND === 'binaries'

/** Options for a tap test that starts Pods. If the required permissions are missing, the test is skipped, except in CI. */
export const needsPodNetwork: { skip?: string } = usesNamespaces && process.env.CI === undefined ? await reasonToSkip() : {}

async function reasonToSkip(): Promise<{ skip?: string }> {
  for (const [command, ...args] of [
    ['unshare', '--net', 'ip', 'link', 'add', 'proreus-a', 'type', 'veth', 'peer', 'name', 'proreus-b'],
    ['bwrap', '--ro-bind', '/', '/', '--unshare-user', '--uid', '65532', 'true'],
  ]) {
    const { code, stderr } = await finished(command!, args).catch((error: Error) => ({ code: 1, stderr: error.message }))
    if (code !== 0) return { skip: `Pods need root, iproute2 and bubblewrap here: ${command!}: ${stderr.trim()}` }
  }
  return {}
}

/** Prepares the network of one Pod. The network is removed at the end of the test. */
export function podHost(t: Test, controlPlane: ControlPlane): Promise<PodHost> {
  const apiServer = new URL(controlPlane.connection.server)
  return controlPlane.backend === 'embedded' ? Promise.resolve(loopbackHost(apiServer)) : namespaceHost(t, apiServer)
}

function serviceHost(hostname: string, port: string): Readonly<Record<string, string>> {
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
}

function loopbackHost({ hostname, port }: URL): PodHost {
  const address = '127.0.0.1'
  return {
    address,
    env: serviceHost(hostname, port),
    args: [
      `--webhook-host=${address}`,
      '--webhook-port=0',
      `--health-probe-bind-address=${address}:0`,
      `--metrics-bind-address=${address}:0`,
    ],
    start: ([program, ...args], { env, cwd, serviceAccountDir }) =>
      runningOf(spawn(program!, args, { cwd, env: { ...env, SERVICE_ACCOUNT_DIR: serviceAccountDir }, stdio: ['ignore', 'pipe', 'pipe'] })),
  }
}

async function namespaceHost(t: Test, apiServer: URL): Promise<PodHost> {
  const socket = await serveOnSocket(t, apiServer)
  const { pid, port } = await startSandbox(t, socket)
  const address = await connectSandbox(pid)
  const mount = join(realpathSync('/var/run'), 'secrets/kubernetes.io/serviceaccount')
  return {
    address,
    env: serviceHost('127.0.0.1', port),
    args: [],
    start(command, { env, cwd, serviceAccountDir }) {
      const container = [
        ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', realpathSync('/var/run')],
        ...['--ro-bind', serviceAccountDir, mount, '--remount-ro', realpathSync('/var/run')],
        ...['--unshare-user', '--uid', '65532', '--gid', '65532', '--die-with-parent', '--info-fd', '3', '--chdir', cwd],
      ]
      const child = spawn('nsenter', ['--target', String(pid), '--net', 'bwrap', ...container, '--', ...command], {
        env,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      })
      const inside = text(child.stdio[3] as Readable).then((info) => (JSON.parse(info) as { 'child-pid': number })['child-pid'])
      inside.catch(() => undefined) // If the container does not start, the exit code of the process reports the failure.
      const running = runningOf(child)
      return {
        ...running,
        async stop(signal = 'SIGTERM') {
          // The signal is sent to the container itself: nsenter and bwrap wait for its exit, but do not forward signals.
          const target = await inside.catch(() => child.pid!)
          if (!hasEnded(child)) process.kill(target, signal)
          return running.ended
        },
      }
    },
  }
}

/** Forwards connections on a Unix socket to the API server. Processes in every network namespace can open the socket file. */
async function serveOnSocket(t: Test, { hostname, port }: URL): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'proreus-pod-'))
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    inside.pipe(outside).pipe(inside)
    inside.on('error', () => undefined).on('close', () => outside.destroy())
    outside.on('error', () => undefined).on('close', () => inside.destroy())
  })
  const path = join(directory, 'api-server')
  server.listen(path)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return path
}

async function startSandbox(t: Test, socket: string): Promise<{ pid: number; port: string }> {
  const script = join(import.meta.dirname, 'pod-sandbox.ts')
  const withLoopback = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath, script, socket]
  const child = spawn('unshare', ['--net', ...withLoopback], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  t.teardown(() => {
    child.stdin.end()
    return ended
  })
  const [port] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('the network namespace ended'))),
  ])) as [string]
  return { pid: child.pid!, port }
}

/** The number of /30 networks in 10.200.0.0/16. Each of these networks has two addresses for hosts. */
const networks = 2 ** 14
/** The number at which the search for a free network starts. It differs between test processes. */
let next = process.pid * 8

/**
 * Connects a network namespace to the network of the machine, and returns the IP address of the namespace. The name of the link contains
 * the number of the /30 network that the link uses. If the link can be created, no other process uses this /30 network.
 */
async function connectSandbox(pid: number): Promise<string> {
  for (;;) {
    const network = next++ % networks
    const link = `proreus-${network}`
    const added = await finished('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)])
    if (/File exists/.test(added.stderr)) continue
    if (added.code !== 0) throw new Error(`ip link add ${link}: ${added.stderr}`)
    const host = (number: number): string => `10.200.${network >> 6}.${((network & 63) << 2) + number}`
    await setUp([], link, host(1))
    await setUp(['nsenter', '--target', String(pid), '--net'], 'eth0', host(2))
    return host(2)
  }
}

async function setUp(within: readonly string[], link: string, address: string): Promise<void> {
  for (const args of [
    ['ip', 'address', 'add', `${address}/30`, 'dev', link],
    ['ip', 'link', 'set', link, 'up'],
  ]) {
    const [command, ...rest] = [...within, ...args]
    const { code, stderr } = await finished(command!, rest)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  }
}
