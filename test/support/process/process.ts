/** Child processes of the end-to-end tests: the command line from the sources, and the real kubectl. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from '../../../src/testing/binaries.ts'

// For the coverage, tap makes every child process record the files that it loads, which costs half a second of processor time per start.
if (process.env._TAPJS_PROCESSINFO_COVERAGE_ === '0') delete process.env.NODE_OPTIONS

export const repository = join(import.meta.dirname, '../../..')
/** Arguments of Node.js for the command line from the sources, where `proreus` resolves to this package in the operators that it loads. */
const bin = ['--conditions=proreus-source', join(repository, 'src/cli/bin.ts')]

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * The path of kubectl in the release that the tests are written for, because its output depends on the version. It comes from an
 * environment variable or from the cache that `npm test` fills; undefined when it is in neither.
 */
export const kubectlPath: string | undefined = await findProgram('kubectl', process.env)

/** Options for a tap test that needs kubectl: skipped with a reason where it is missing, but never in CI. */
export const needsKubectl: { skip?: string } =
  kubectlPath !== undefined || process.env.CI !== undefined
    ? {}
    : { skip: 'kubectl is not here: "npm test" without arguments builds it, where there is Go' }

/** Runs a program to completion. */
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

/** Runs `proreus …` to completion. */
export function proreus(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Promise<Finished> {
  return finished(process.execPath, [...bin, ...args], options)
}

/** A long-running `proreus …`. */
export interface Running {
  readonly child: ChildProcess
  /** Returns the standard output and error so far. */
  readonly output: () => string
  /** Sends a signal; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  readonly ended: Promise<number | null>
}

export function startProreus(args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Running {
  const [program, ...rest] = proreusCommand(args)
  return runningOf(spawn(program!, rest, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Returns the program and the arguments of `proreus …`. */
export function proreusCommand(args: readonly string[]): string[] {
  return [process.execPath, ...bin, ...args]
}

/** Collects the output of a child process. */
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

/** Returns kubectl with a kubeconfig and a home folder of its own. */
export function kubectlFor(
  kubeconfig: string,
  home: string,
): {
  /** Runs a command to completion. */
  readonly run: (args: string, input?: string) => Promise<Finished>
  /** Starts a long-running command. */
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

/** Splits at blanks outside single quotes. */
export function splitArguments(text: string): string[] {
  return [...text.matchAll(/(?:[^\s']+|'[^']*')+/g)].map(([part]) => part.replaceAll("'", ''))
}
