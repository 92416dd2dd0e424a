/**
 * `membersOf` finds the processes of a container, including processes that have left the process group of the container. `endProcesses`
 * kills processes.
 */
import type { Clock } from '../../../runtime/clock.ts'
import { sleep } from '../../../runtime/waiting.ts'
import type { ProcessInfo } from './process-list.ts'

/** The processes that are known to belong to a container. The descendants of these processes belong to the container, too. */
export interface KnownProcesses {
  /** The start times of the processes, keyed by pid. */
  readonly started: ReadonlyMap<number, string>
  /** Returns true when a process with this value of `markerVariable` belongs to the container. */
  hasMarker(marker: string): boolean
}

/**
 * Returns the processes that belong to a container:
 *
 * - the known processes
 * - the child processes of each returned process
 * - the members of each process group whose leader is a returned process
 *
 * The function compares not only the pid of a process, but also its start time. A new process that has the pid of an ended known process is
 * therefore not mistaken for the known process.
 */
export function membersOf(processes: readonly ProcessInfo[], known: KnownProcesses): readonly ProcessInfo[] {
  const isKnown = ({ pid, startTime, marker }: ProcessInfo): boolean =>
    known.started.get(pid) === startTime || (marker !== undefined && known.hasMarker(marker))
  const candidates = processes.filter(({ pid }) => pid > 1 && pid !== process.pid)
  const members = new Set(candidates.filter(isKnown).map(({ pid }) => pid))
  for (let before = -1; before < members.size;) {
    before = members.size
    for (const { pid, parent, group } of candidates) if (members.has(parent) || members.has(group)) members.add(pid)
  }
  return candidates.filter(({ pid }) => members.has(pid))
}

/** The longest time in milliseconds to wait for the end of killed processes. A process that waits for a broken disk can end later. */
export const endsWithinMs = 2_000
const pollMs = 5

/**
 * Kills the processes that `find` returns, and repeats this until `find` returns no more processes, or about 2 seconds have passed. After
 * this time, some of the processes may still run. Processes of other users, such as a program that was started with sudo, cannot be killed
 * and are ignored.
 */
export async function endProcesses(clock: Clock, find: () => readonly ProcessInfo[]): Promise<void> {
  const deadline = clock.monotonicNow() + endsWithinMs
  const others = new Set<number>()
  for (;;) {
    const left = find().filter(({ pid }) => !others.has(pid))
    for (const { pid } of left) if (!sendSignal(pid, 'SIGKILL')) others.add(pid)
    if (left.length === 0 || clock.monotonicNow() > deadline) return
    await sleep(clock, pollMs)
  }
}

/** Sends a signal. Returns false when the process belongs to another user or has ended, or when Node.js does not know the signal. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
