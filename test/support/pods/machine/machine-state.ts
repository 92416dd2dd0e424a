/**
 * `machineState`: lists the resources that Pods can leave on a machine: processes, mounts, network namespaces, links and temporary files.
 * All resources except temporary files are found through /proc. Therefore, the user of this process must be allowed to read the files of
 * all processes in /proc.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface MachineProcess {
  readonly pid: number
  /** Distinguishes the process from an earlier process with the same pid. */
  readonly startTime: string
  /** The words of the command, separated by blanks. For a zombie process, the name of the program in brackets. */
  readonly command: string
}

export interface MachineState {
  readonly processes: readonly MachineProcess[]
  /** The mounts of this process, as lines of mountinfo. */
  readonly mounts: readonly string[]
  /** The number of mounts in all mount namespaces together. */
  readonly mountCount: number
  /** The names of the links in each network namespace, keyed by the id of the namespace. */
  readonly networks: ReadonlyMap<string, readonly string[]>
  /** The paths of all files and folders in the temporary folder of this process. */
  readonly temporaryFiles: readonly string[]
}

export function machineState(): MachineState {
  const processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
  const pids = processes.map(({ pid }) => pid)
  // The `mountinfo` of a process contains only the mounts below the root of this process. The processes of a mount namespace can have
  // different roots. Therefore, the longest `mountinfo` determines the number of mounts of the namespace.
  const mountCounts = byNamespace(pids, 'mnt', (pid) => linesOf(`/proc/${pid}/mountinfo`).length)
  const links = byNamespace(pids, 'net', linksOf)
  return {
    processes,
    mounts: linesOf('/proc/self/mountinfo'),
    mountCount: [...mountCounts.values()].reduce((sum, counts) => sum + Math.max(...counts), 0),
    networks: new Map([...links].map(([id, [first = []]]) => [id, first])),
    temporaryFiles: filesIn(tmpdir()),
  }
}

/** Returns one line for each process, mount, network namespace, link and temporary file that exists in `now`, but not in `before`. */
export function leftOver(before: MachineState, now: MachineState): readonly string[] {
  const identity = ({ pid, startTime }: MachineProcess): string => `${pid} ${startTime}`
  const known = new Set(before.processes.map(identity))
  const mounts = new Set(before.mounts)
  const files = new Set(before.temporaryFiles)
  return [
    ...now.processes.filter((process) => !known.has(identity(process))).map(({ pid, command }) => `the process ${pid}: ${command}`),
    ...now.mounts.filter((line) => !mounts.has(line)).map((line) => `the mount ${line}`),
    ...[...now.networks].flatMap(([id, links]) => {
      const earlier = before.networks.get(id)
      if (earlier === undefined) return [`the network namespace ${id}`]
      return links.filter((link) => !earlier.includes(link)).map((link) => `the link ${link}`)
    }),
    ...now.temporaryFiles.filter((path) => !files.has(path)).map((path) => `the file ${path}`),
  ]
}

/** Calls `read` for each process. Returns the results, keyed by the id of the namespace. A process that has just ended is skipped. */
function byNamespace<T>(pids: readonly number[], kind: 'mnt' | 'net', read: (pid: number) => T): Map<string, T[]> {
  const found = new Map<string, T[]>()
  for (const pid of pids) {
    try {
      const id = readlinkSync(`/proc/${pid}/ns/${kind}`)
      found.set(id, [...(found.get(id) ?? []), read(pid)])
    } catch {
      // The process has ended.
    }
  }
  return found
}

/** Returns the names of the network interfaces in the network namespace of a process, except the loopback interface. */
function linksOf(pid: number): readonly string[] {
  const lines = readFileSync(`/proc/${pid}/net/dev`, 'utf8').match(/^ *[^ :]+:/gm) ?? []
  return lines.map((text) => text.trim().slice(0, -1)).filter((name) => name !== 'lo')
}

/** Reads a process (proc_pid_stat(5)). The name of the program is in parentheses and may contain any character. */
function readProcess(pid: number): MachineProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [name, rest] = [stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), stat.slice(stat.lastIndexOf(')') + 2).split(' ')]
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
    return { pid, startTime: rest[19] ?? '', command: rest[0] === 'Z' ? `[${name}]` : words.join(' ') }
  } catch {
    return undefined
  }
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .sort()
}
