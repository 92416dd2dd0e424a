/** A driver for the cases, and functions that start its containers. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { ContainerOptions, ContainerProcess, PodSandbox, ProcessStreams } from '../../../../../src/devcluster/pods/driver.ts'
import type { NamespacesDriver, NamespacesOptions } from '../../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'
import { createNamespacesDriver } from '../../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'

/** The value that the property `ids` of a driver must have: `machine`, `subordinate` or `single`. */
export const ids = process.env.PROREUS_IDS

export const environment = { PATH: '/usr/bin:/bin' }

export interface World {
  readonly driver: NamespacesDriver
  /** Creates a Pod with the next address. */
  pod(options?: { readonly hostname?: string; readonly hostNetwork?: boolean }): Promise<PodSandbox>
}

/** Creates a driver that is closed at the end of the test. */
export async function world(t: Test, options: NamespacesOptions = {}): Promise<World> {
  const driver = await createNamespacesDriver(options)
  t.teardown(() => driver.close())
  let count = 1
  return {
    driver,
    pod({ hostname = 'pod', hostNetwork = false } = {}) {
      count += 1
      return driver.createSandbox({ hostname, address: `10.244.0.${count}`, hostNetwork })
    },
  }
}

/** Starts a container that has the root file system of the machine. */
export function start(pod: PodSandbox, command: readonly string[], options: Partial<ContainerOptions> = {}): Promise<ContainerProcess> {
  return pod.start({ command, environment, isRootReadOnly: false, mounts: [], tty: false, stdin: false, ...options })
}

/** Starts a shell with a script. */
export function shell(pod: PodSandbox, script: string, options: Partial<ContainerOptions> = {}): Promise<ContainerProcess> {
  return start(pod, ['sh', '-c', script], options)
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Waits for the end of a process, and resolves with its output. */
export async function outcome(process: ProcessStreams): Promise<Outcome> {
  const [stdout, stderr, code] = await Promise.all([
    text(process.stdout),
    process.stderr === undefined ? '' : text(process.stderr),
    process.exited,
  ])
  return { code, stdout, stderr }
}

/** Runs a script in a new container, and resolves with its output. */
export async function run(pod: PodSandbox, script: string, options: Partial<ContainerOptions> = {}): Promise<Outcome> {
  return outcome(await shell(pod, script, options))
}

/** Everything on the machine that a driver could leave behind. */
export interface Traces {
  /** The command lines of all processes that have not ended. */
  readonly processes: readonly string[]
  readonly mounts: string
  /** The network links. */
  readonly links: readonly string[]
  readonly temporaryFiles: readonly string[]
}

export function traces(): Traces {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return {
    processes: pids.flatMap((pid) => (isRunning(pid) ? [commandLineOf(pid)] : [])).sort(),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    links: readFileSync('/proc/self/net/dev', 'utf8').match(/^ *[^ :]+:/gm) ?? [],
    temporaryFiles: readdirSync(tmpdir()).sort(),
  }
}

function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`
  try {
    return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return `process ${pid}`
  }
}
