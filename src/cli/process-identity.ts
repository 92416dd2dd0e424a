/**
 * Identifies a process beyond its life: an operating system reuses process ids. On Linux, the id and the start time together identify a
 * process. Other systems have no /proc, and only the id is known there.
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

/** Returns true when the process runs. A process that has ended does not run, even if its parent has not read its exit code yet. */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  if (!exists(pid)) return false
  const stat = await statOf(pid)
  if (stat === undefined) return true
  return !stat.hasEnded && (started === undefined || started === stat.started)
}

/** Signal 0 has no effect on a process, but fails if the process does not exist (kill(2)). EPERM means that the process belongs to another user. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Reads /proc/PID/stat (proc_pid_stat(5)); undefined when there is no such file. The second field is the name of the program in parentheses,
 * which may contain blanks and parentheses. The state is field 3, the start time field 22.
 */
async function statOf(pid: number): Promise<{ hasEnded: boolean; started: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields[0], fields[19]]
  return state === undefined || started === undefined ? undefined : { hasEnded: state === 'Z' || state === 'X', started }
}
