/**
 * Identifies a process by its id and its start time. The id alone is not sufficient, because the operating system reuses the id of a
 * process that has ended. On a system without /proc, such as macOS, only the id is known.
 */
import { readFile } from 'node:fs/promises'

export interface ProcessIdentity {
  readonly pid: number
  /** The start time in clock ticks since the boot; absent if it is unknown. */
  readonly started?: string
}

export async function thisProcess(): Promise<ProcessIdentity> {
  const stat = await statOf(process.pid)
  return { pid: process.pid, ...(stat && { started: stat.started }) }
}

/**
 * Returns true when the process runs. If the process has ended, but its parent has not yet read the exit code, the function returns false.
 */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (!exists(pid)) return false
  const stat = await statOf(pid)
  if (stat === undefined) return true
  return !stat.hasEnded && (started === undefined || started === stat.started)
}

/**
 * Returns true when a process with this id exists. Signal 0 has no effect on a process, but fails if the process does not exist (kill(2)).
 * EPERM means that the process belongs to another user.
 */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Reads /proc/PID/stat (proc_pid_stat(5)). Returns undefined when this file does not exist. Field 2 is the name of the program in
 * parentheses. The name may contain blanks and parentheses. Field 3 is the state, and field 22 is the start time.
 */
async function statOf(pid: number): Promise<{ hasEnded: boolean; started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return state === undefined || started === undefined ? undefined : { hasEnded: state === 'Z' || state === 'X', started }
}
