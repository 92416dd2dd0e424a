/** Child processes of the end-to-end tests: `proreus`, run from its sources, and the real kubectl. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../../src/testing/binaries.ts'

// With the `NODE_OPTIONS` that tap sets, every child process records the files that it loads. These records cost half a second of processor
// time for each process. Only coverage needs the records, so without coverage the variable is deleted.
if (process.env._TAPJS_PROCESSINFO_COVERAGE_ === '0') delete process.env.NODE_OPTIONS

export const repository = join(import.meta.dirname, '../../..')
/**
 * The arguments with which Node.js runs the program `proreus` from the sources. If this program loads an operator that imports the package
 * `proreus`, the operator gets the same sources.
 */
const bin = ['--conditions=proreus-source', join(repository, 'src/cli/bin.ts')]

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * The path of kubectl; undefined if kubectl is not found. `npm test` without arguments builds kubectl if it is missing. The tests expect
 * the output of the release that `npm test` builds by default. The output of other releases can differ.
 */
export const kubectlPath: string | undefined = await findProgram('kubectl', process.env)

/** Options for a tap test that needs kubectl. Without kubectl the test is skipped with a reason, except in CI. */
export const needsKubectl: { skip?: string } =
  kubectlPath !== undefined || process.env.CI !== undefined
    ? {}
    : { skip: 'kubectl is not here: "npm test" without arguments builds it, where there is Go' }

/** Runs a command to its end. Returns its exit code and its output. */
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

/** Runs `proreus` with these arguments to its end. */
export function proreus(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Finished> {
  return finished(process.execPath, [...bin, ...args], options)
}

/** A child process that runs until it is stopped. */
export interface Running {
  readonly child: ChildProcess
  /** Returns the standard output and the standard error that the process has written so far. */
  readonly output: () => string
  /** Sends a signal to the process. Resolves with its exit code when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  readonly ended: Promise<number | null>
}

export function startProreus(args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Running {
  const [program, ...rest] = proreusCommand(args)
  return runningOf(spawn(program!, rest, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Returns the command that runs `proreus` with these arguments. */
export function proreusCommand(args: readonly string[]): string[] {
  return [process.execPath, ...bin, ...args]
}

/** Returns the child process as a `Running` that collects its output. */
export function runningOf(child: ChildProcess): Running {
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

/** Reports whether the process has ended, either by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Returns kubectl with this kubeconfig and this home folder. */
export function kubectlFor(
  kubeconfig: string,
  home: string,
): {
  /** Runs a kubectl command to its end. */
  readonly run: (args: string, input?: string) => Promise<Finished>
  /** Starts a kubectl command without waiting for its end. */
  readonly start: (args: string) => Running
} {
  mkdirSync(home, { recursive: true })
  const options = { cwd: repository, env: { ...process.env, KUBECONFIG: kubeconfig, HOME: home } }
  const program = kubectlPath ?? 'kubectl'
  return {
    run: (args, input) => finished(program, splitArguments(args), { ...options, ...(input === undefined ? {} : { input }) }),
    start: (args) => runningOf(spawn(program, splitArguments(args), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })),
  }
}

/** Splits a command line at blanks, except within single quotes. */
export function splitArguments(text: string): string[] {
  return [...text.matchAll(/(?:[^\s']+|'[^']*')+/g)].map(([part]) => part.replaceAll("'", ''))
}
