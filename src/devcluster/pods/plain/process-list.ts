/** `listProcesses` lists the processes of this machine with what is needed to find the processes of a container. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/**
 * The environment variable by which processes of a container are found after they have left their process group. All processes inherit it.
 * It is read on Linux only.
 */
export const markerVariable = 'PROREUS_CONTAINER'

export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** The time of the start, as text. When the system uses a pid again, the new process has another time. */
  readonly startTime: string
  /** The value of `markerVariable`. */
  readonly marker?: string
}

/** True on Linux, where /proc has a folder for each process. */
const hasFiles = existsSync('/proc/self/stat')

/** Returns all processes that this user can see. A process that has ended is not listed, even when its parent has not noticed the end. */
export function listProcesses(): readonly ProcessInfo[] {
  return hasFiles ? listByFiles() : listByProgram(['-ax'])
}

/** Returns the time of the start of a process. Returns undefined when the process has ended. */
export function startTimeOf(pid: number): string | undefined {
  const info = hasFiles ? readProcess(pid, bootId()) : listByProgram(['-p', String(pid)])[0]
  return info?.startTime
}

function listByFiles(): readonly ProcessInfo[] {
  const boot = bootId()
  return readdirSync('/proc').flatMap((name) => {
    const info = /^\d+$/.test(name) ? readProcess(Number(name), boot) : undefined
    if (info === undefined) return []
    const marker = readMarker(info.pid)
    return [marker === undefined ? info : { ...info, marker }]
  })
}

/** Reads the line of a process (proc_pid_stat(5)). The name of the program is in parentheses and may contain any character. */
function readProcess(pid: number, boot: string): ProcessInfo | undefined {
  const line = readText(`/proc/${pid}/stat`)
  const [state = '', parent, group, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
  if (state === '' || hasEnded(state)) return undefined
  // The field 22 is the start in ticks since the boot of the machine.
  return { pid, parent: Number(parent), group: Number(group), startTime: `${boot} ${rest[16]}` }
}

function readMarker(pid: number): string | undefined {
  const prefix = `${markerVariable}=`
  const variables = readText(`/proc/${pid}/environ`).split('\0')
  return variables.find((variable) => variable.startsWith(prefix))?.slice(prefix.length)
}

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id').trim()
}

/** Returns an empty text when the process has ended, or belongs to another user. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Lists processes by ps(1), which macOS and the BSDs have. */
export function listByProgram(selection: readonly string[]): readonly ProcessInfo[] {
  const { stdout } = spawnSync('ps', [...selection, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
    encoding: 'latin1',
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 2 ** 26,
  })
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid, parent, group, state, ...startTime] = line.trim().split(/\s+/)
    if (state === undefined || hasEnded(state)) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), startTime: startTime.join(' ') }]
  })
}

function hasEnded(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X')
}
