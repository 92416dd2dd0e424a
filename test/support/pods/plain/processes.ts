/** Starts and finds processes of sleep(1). With these processes, tests check that the driver `plain` ends all processes of a container. */
import { spawnSync } from 'node:child_process'
import { until } from '../../../../src/testing/until.ts'

let count = 0

/** Returns a number of seconds for sleep(1) that no other process uses. The test finds its processes by this number. */
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

/** Resolves with the pids of the processes that run sleep(1) with this argument. Waits until there are exactly `number` of them. */
export function sleeping(seconds: string, number: number): Promise<readonly number[]> {
  return until(`${number} processes sleep`, () => {
    const pids = sleepers(seconds)
    return pids.length === number && pids
  })
}

/** Commands that start `sleep` outside the process group of the container. macOS does not have setsid(1). */
const escapes = (seconds: string): readonly string[] => [
  // With `-m`, a background command gets its own process group.
  `sh -mc 'sleep ${seconds} & wait' &`,
  ...(process.platform === 'linux'
    ? [
        `setsid sleep ${seconds} &`,
        // A daemon. The parent of `sleep` ends at once.
        `setsid sh -c '(sleep ${seconds} &)'`,
      ]
    : []),
]

/**
 * Returns a script that starts processes of `sleep` in the background: one in the process group of the script, and one or more in other
 * process groups.
 */
export function scatter(seconds: string): string {
  return [`sleep ${seconds} &`, ...escapes(seconds)].join('\n')
}

/** The number of processes that `scatter` starts. */
export const scattered = 1 + escapes('').length
