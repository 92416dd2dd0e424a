/** `listProcesses` lists the processes of this machine, with the properties that `membersOf` needs to find the processes of a container. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'

/**
 * The environment variable that marks the processes of a container. Child processes inherit the variable, so they are found even after they
 * have left the process group. The variable is read on Linux only.
 */
export const markerVariable = 'PROREUS_CONTAINER'

export interface ProcessInfo {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** The start time as text. If the operating system uses a pid again, the new process has another start time. */
  readonly startTime: string
  /** The value of `markerVariable`. Absent if the process does not have the variable, or if the variable cannot be read. */
  readonly marker?: string
}

/** True on Linux, where /proc has a folder for each process. */
const hasFiles = existsSync('/proc/self/stat')

/** Returns all processes that this user can see, without zombies (processes that have ended). */
export function listProcesses(): readonly ProcessInfo[] {
  return hasFiles ? listByFiles() : listByProgram(['-ax'])
}

/** Returns the start time of a process. Returns undefined when the process has ended. */
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

/**
 * Reads the file stat of a process (proc_pid_stat(5)). The name of the program is in parentheses and may itself contain parentheses.
 * Therefore, the other fields begin after the last closing parenthesis.
 */
function readProcess(pid: number, boot: string): ProcessInfo | undefined {
  const line = readText(`/proc/${pid}/stat`)
  const [state = '', parent, group, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
  if (state === '' || hasEnded(state)) return undefined
  // Field 22 is the start time in clock ticks since the machine booted.
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

/**
 * Returns the text of a file; an empty string if the file cannot be read. The file of a process cannot be read if the process has ended or
 * belongs to another user.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Lists processes with ps(1), which exists on macOS and the BSDs. */
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
