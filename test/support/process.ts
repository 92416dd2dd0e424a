/** Child processes of the end-to-end tests: the command line from the sources, and the real kubectl. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../src/testing/binaries.ts'

export { until } from '../../src/testing/until.ts'

// tap has every child process record the files that it loads, for the coverage: half a second of processor time for each start.
if (process.env._TAPJS_PROCESSINFO_COVERAGE_ === '0') delete process.env.NODE_OPTIONS

export const repository = join(import.meta.dirname, '../..')
/** The command line from the sources; `proreus` means this package in operators that it loads. */
const bin = ['--conditions=proreus-source', join(repository, 'src/cli/bin.ts')]

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * The kubectl of the release that the tests are written for, because what it prints depends on its version:
 * named by a variable, or in the cache that `npm test` fills. Undefined when it is nowhere.
 */
export const kubectlPath: string | undefined = await findProgram('kubectl', process.env)

/** Options for a tap test that needs kubectl: skipped with the reason without one, but a failure in CI. */
export const needsKubectl: { skip?: string } =
  kubectlPath !== undefined || process.env.CI !== undefined
    ? {}
    : { skip: 'kubectl is not here: "npm test" without arguments builds it, where there is Go' }

/** Runs a program to its end. */
export async function finished(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Finished> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    }),
  ])
  return { code, stdout, stderr }
}

/** Runs `proreus …` to its end. */
export function proreus(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Finished> {
  return finished(process.execPath, [...bin, ...args], options)
}

/** A long-running `proreus …`. */
export interface Running {
  readonly child: ChildProcess
  /** All that it has said so far. */
  readonly output: () => string
  /** Ends it with a signal and gives its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  readonly ended: Promise<number | null>
}

export function startProreus(args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Running {
  const [program, ...rest] = proreusCommand(args)
  return follow(spawn(program!, rest, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** The program and arguments of `proreus …`. */
export function proreusCommand(args: readonly string[]): string[] {
  return [process.execPath, ...bin, ...args]
}

/** Collects what a child process says. */
export function follow(child: ChildProcess): Running {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    child,
    output: () => output,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** kubectl with a kubeconfig and a home folder of its own. */
export function kubectlFor(
  kubeconfig: string,
  home: string,
): {
  /** Runs it to its end. */
  readonly run: (args: string, input?: string) => Promise<Finished>
  /** Starts a command that goes on until it is stopped. */
  readonly start: (args: string) => Running
} {
  mkdirSync(home, { recursive: true })
  const options = { cwd: repository, env: { ...process.env, KUBECONFIG: kubeconfig, HOME: home } }
  const program = kubectlPath ?? 'kubectl'
  return {
    run: (args, input) => finished(program, splitArguments(args), { ...options, ...(input === undefined ? {} : { input }) }),
    start: (args) => follow(spawn(program, splitArguments(args), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })),
  }
}

/** Splits at blanks; single quotes keep a part together. */
export function splitArguments(text: string): string[] {
  return [...text.matchAll(/(?:[^\s']+|'[^']*')+/g)].map(([part]) => part.replaceAll("'", ''))
}
