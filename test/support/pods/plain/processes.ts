/** Processes that tests of the driver `plain` look for. */
import { spawnSync } from 'node:child_process'
import { until } from '../../../../src/testing/until.ts'

let count = 0

/** Returns a number of seconds for sleep(1) that no other process sleeps. By it, the test finds its processes. */
export function uniqueSleep(): string {
  return `9${process.pid}${count++}.25`
}

/** Returns the pids of the processes that run sleep(1) with this argument. */
export function sleepers(seconds: string): readonly number[] {
  const { stdout, error } = spawnSync('ps', ['-ax', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' })
  if (error !== undefined) throw error
  return stdout.split('\n').flatMap((line) => {
    const [pid, state = '', ...args] = line.trim().split(/\s+/)
    return !state.startsWith('Z') && args.join(' ') === `sleep ${seconds}` ? [Number(pid)] : []
  })
}

/** Resolves with the pids when that many processes sleep. */
export function sleeping(seconds: string, number: number): Promise<readonly number[]> {
  return until(`${number} processes sleep`, () => {
    const pids = sleepers(seconds)
    return pids.length === number && pids
  })
}

/** Commands that start `sleep` where a process group does not reach it. macOS does not have setsid(1). */
const escapes = (seconds: string): readonly string[] => [
  // A process group of its own.
  `sh -mc 'sleep ${seconds} & wait' &`,
  ...(process.platform === 'linux'
    ? [
        `setsid sleep ${seconds} &`,
        // A daemon: the parent of `sleep` ends at once.
        `setsid sh -c '(sleep ${seconds} &)'`,
      ]
    : []),
]

/** Returns a script that starts `sleep` in the background several times: in its process group, and where the group does not reach it. */
export function scatter(seconds: string): string {
  return [`sleep ${seconds} &`, ...escapes(seconds)].join('\n')
}

/** The number of processes that `scatter` starts. */
export const scattered = 1 + escapes('').length
