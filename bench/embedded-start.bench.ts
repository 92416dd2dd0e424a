/**
 * Measures the start of the embedded cluster: `startControlPlane()` in a new process, and `proreus dev` and `npm start` with the operator
 * of this repository.
 *
 * `npm run bench -- embedded-start [--rounds 9] [--built] [--before FOLDER]`
 *
 * - `--built`: `dist` is not built first.
 * - `--before`: each round also measures the checkout of this repository in `FOLDER`, with installed dependencies.
 *
 * A `warm` start uses the compile cache of earlier rounds. A `cold` start uses an empty compile cache. The CPU time of a process includes
 * all its threads. The CPU time of `npm start` also includes the processes that npm runs.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Starts } from './embedded-start/control-plane.ts'
import { median, table } from './table.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, built: { type: 'boolean', default: false }, before: { type: 'string' } },
})
const rounds = Number(values.rounds)
const here = join(import.meta.dirname, '..')
const checkouts = [...(values.before === undefined ? [] : [resolve(values.before)]), here]
/** Time limit in milliseconds for a process to become ready. */
const limitMs = 60_000

interface Program {
  readonly name: string
  readonly args: readonly string[]
}

interface Times {
  readonly readyMs: number
  readonly cpuMs: number
}

const programs: readonly Program[] = [
  { name: '`npm start`', args: ['npm', 'start', '--'] },
  { name: '`proreus dev` from `dist`', args: [process.execPath, 'dist/cli/bin.js', 'dev'] },
]

for (const root of values.built ? [] : checkouts)
  if (spawnSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1)
const folder = mkdtempSync(join(tmpdir(), 'proreus-embedded-start-'))
try {
  const starts = new Map<string, Starts[]>()
  const times = new Map<string, Times[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const root of checkouts) {
      const key = nameOf(root)
      // Round 0 fills the compile cache of the warm starts. The results of round 0 are discarded.
      const controlPlane = startControlPlanes(root)
      if (round > 0) add(starts, key, controlPlane)
      for (const program of programs) {
        const warm = await measure(root, program, join(folder, 'warm'))
        if (round === 0) continue
        add(times, `${program.name}, warm${key}`, warm)
        add(times, `${program.name}, cold${key}`, await measure(root, program, mkdtempSync(join(folder, 'cold-'))))
      }
    }
  }
  process.stdout.write(
    table(
      ['`startControlPlane()`', 'ms', 'CPU ms'],
      [...starts].flatMap(([key, results]) => [
        [`import of \`proreus/testing\`${key}`, ...cells(results.map(({ imported }) => imported))],
        [`the first${key}`, ...cells(results.map(({ first }) => first))],
        [`later ones${key}`, ...cells(results.flatMap(({ later }) => later))],
      ]),
    ),
  )
  process.stdout.write(
    `\n${table(
      ['process, compile cache', 'ready ms', 'CPU ms until ready'],
      [...times].sort().map(([key, results]) => [key, ...cells(results.map(({ readyMs, cpuMs }) => ({ ms: readyMs, cpuMs })))]),
    )}`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function nameOf(root: string): string {
  return root === here ? '' : ', before'
}

function add<T>(results: Map<string, T[]>, key: string, result: T): void {
  results.set(key, [...(results.get(key) ?? []), result])
}

function cells(results: readonly { readonly ms: number; readonly cpuMs: number }[]): string[] {
  return [median(results.map(({ ms }) => ms)).toFixed(0), median(results.map(({ cpuMs }) => cpuMs)).toFixed(0)]
}

/** Starts control planes in a new process, one after the other. */
function startControlPlanes(root: string): Starts {
  const args = ['--conditions=proreus-source', join(here, 'bench/embedded-start/control-plane.ts'), root]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(stdout) as Starts
}

/** Starts the program with an empty data folder, waits until the program is ready, and stops the program. */
async function measure(root: string, { name, args: [command, ...args] }: Program, cache: string): Promise<Times> {
  mkdirSync(cache, { recursive: true })
  const state = mkdtempSync(join(folder, 'state-'))
  const startedAt = performance.now()
  // If NODE_COMPILE_CACHE is not set, Node.js stores the compile cache in the folder for temporary files.
  const child = spawn(command!, [...args, '--port=0', `--state-dir=${state}`, `--cert-dir=${state}`, '--log-format=json'], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, TMPDIR: cache },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    await untilReady(name, child)
    return { readyMs: performance.now() - startedAt, cpuMs: cpuMsOfGroup(child.pid!) }
  } finally {
    // Node.js writes its compile cache only if the process exits normally. SIGTERM lets the process exit normally.
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM')
    await ended
    rmSync(state, { recursive: true, force: true })
  }
}

/** Resolves when the process logs that it is ready. */
function untilReady(name: string, child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    const fail = (): void => {
      clearTimeout(timer)
      reject(new Error(`${name} does not become ready:\n${log}`))
    }
    const timer = setTimeout(fail, limitMs)
    child.once('close', fail)
    child.stderr!.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (!log.includes('"msg":"ready"')) return
      clearTimeout(timer)
      resolve()
    })
  })
}

/**
 * Returns the CPU time in milliseconds of all processes of a process group, and of their children that have ended. In `/proc/PID/stat`, the
 * 5th field is the process group, and the 14th to 17th field are CPU times in ticks of 10 ms.
 */
function cpuMsOfGroup(group: number): number {
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => statOf(pid))
    .filter((fields) => Number(fields[2]) === group)
    .map((fields) => fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0))
  return ticks.reduce((sum, each) => sum + each, 0) * 10
}

function statOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return [] // The process has ended.
  }
}
