/** Network namespaces for tests: one with the bridge of a cluster, and one for each fake Pod. */
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Test } from 'tap'
import type { Finished } from '../../../../support/process/process.ts'
import { finished, hasEnded } from '../../../../support/process/process.ts'

/**
 * The options of `unshare` and `nsenter`. `privileged` is for a user who may create network namespaces. `unprivileged` is for a user who
 * must create a user namespace first.
 */
const privileged = { unshare: [], nsenter: [] }
const unprivileged = { unshare: ['-U', '-r'], nsenter: ['-U', '--preserve-credentials'] }

const attempts = [privileged, unprivileged].map((options) => ({
  options,
  result: spawnSync('unshare', [...options.unshare, '-n', '-m', 'true']),
}))
const usable = attempts.find(({ result }) => result.status === 0)?.options

/**
 * Options for a test that needs network namespaces. If this machine cannot create network namespaces, the test is skipped, and the reason
 * is reported.
 */
export const needsNamespaces: { skip?: string } =
  usable === undefined
    ? {
        skip: `no network namespace can be created: ${attempts.map(({ result }) => result.error?.message ?? String(result.stderr)).join('; ')}`,
      }
    : {}

const resolvConf = 'nameserver 10.96.0.10\nsearch NAMESPACE.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n'

export class TestNamespace {
  readonly #holder: ChildProcess
  /** The command prefix that starts a program in the namespace. */
  readonly enter: readonly string[]

  private constructor(holder: ChildProcess, enter: readonly string[]) {
    this.#holder = holder
    this.enter = enter
  }

  /** Creates a network namespace that contains the bridge of a cluster. The namespace is removed at the end of the test. */
  static async cluster(t: Test): Promise<TestNamespace> {
    const { unshare, nsenter } = usable!
    const holder = await hold(t, ['unshare', ...unshare, '-n'], 'true')
    const namespace = new TestNamespace(holder, ['nsenter', '-t', String(holder.pid), ...nsenter, '-n'])
    await namespace.ip('link add br0 type bridge', 'addr add 10.244.0.1/16 dev br0', 'link set br0 up', 'link set lo up')
    return namespace
  }

  /**
   * Creates a network namespace for a fake Pod, and connects the network namespace to the bridge of the cluster. Programs in the network
   * namespace use the DNS server of the cluster.
   *
   * @param namespace the Kubernetes namespace of the Pod. The first search domain for DNS contains this name.
   */
  async pod(t: Test, address: string, namespace = 'default'): Promise<TestNamespace> {
    const folder = mkdtempSync(join(tmpdir(), 'proreus-network-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'resolv.conf'), resolvConf.replace('NAMESPACE', namespace))
    const mount = `mount --bind ${folder}/resolv.conf /etc/resolv.conf`
    const holder = await hold(t, [...this.enter, 'unshare', '-n', '-m'], mount)
    const pod = new TestNamespace(holder, ['nsenter', '-t', String(holder.pid), ...usable!.nsenter, '-n', '-m'])
    const link = `veth${address.split('.').at(-1)}`
    await this.ip(`link add ${link} type veth peer name eth0 netns ${holder.pid}`, `link set ${link} master br0 up`)
    await pod.ip('link set lo up', `addr add ${address}/16 dev eth0`, 'link set eth0 up', 'route add default via 10.244.0.1')
    return pod
  }

  /** Runs a program in the namespace until it ends. */
  run(program: string, ...args: readonly string[]): Promise<Finished> {
    const [command, ...before] = this.enter
    return finished(command!, [...before, program, ...args])
  }

  /** Runs JavaScript code in a process in the namespace. Resolves when the process has ended. */
  script(code: string): Promise<Finished> {
    return this.run(process.execPath, '--input-type=module', '-e', code)
  }

  /**
   * Starts a process that runs JavaScript code in the namespace. Resolves when the process has written its first output. The process is
   * killed at the end of the test.
   */
  async serve(t: Test, code: string): Promise<ChildProcess> {
    const [command, ...before] = this.enter
    const child = spawn(command!, [...before, process.execPath, '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => end(child))
    await firstOutput(child)
    return child
  }

  async ip(...commands: readonly string[]): Promise<void> {
    const [command, ...before] = this.enter
    const { code, stderr } = await finished(command!, [...before, 'ip', '-batch', '-'], { input: `${commands.join('\n')}\n` })
    if (code !== 0) throw new Error(`ip: ${stderr}`)
  }

  /** Kills the process that keeps the namespace open. The namespace disappears when its last process has ended. */
  end(): Promise<void> {
    return end(this.#holder)
  }
}

/**
 * Starts a process that keeps its namespaces open until its standard input ends. The input also ends when the process of the tests ends.
 */
async function hold(t: Test, command: readonly string[], setUp: string): Promise<ChildProcess> {
  const [program, ...args] = command
  const child = spawn(program!, [...args, 'sh', '-c', `${setUp} && echo ready && exec cat >/dev/null`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => end(child))
  child.stdin.on('error', () => undefined)
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the namespace was not created'))),
  ])
  return child
}

async function firstOutput(child: ChildProcessByStdio<Writable | null, Readable, null>): Promise<void> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the process ended before it was ready')))
  await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => undefined)
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
