/** Counts the processes, files and other resources of the running shop. Whenever the same Pods run, the numbers must be the same. */
import { readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { DevProcess } from '../dev-process.ts'
import { machineState } from '../machine/machine-state.ts'

export type ShopCounts = Readonly<Record<string, number>>

/**
 * The tolerated increase in the number of open sockets of `proreus dev`. An increase up to this limit does not count as a leak, because
 * connections of clients stay open for a while.
 */
const toleratedSockets = 24

export function shopCounts({ pid, podsFolder }: DevProcess): ShopCounts {
  const { processes, mountCount, networks, temporaryFiles } = machineState()
  const programs = processes.map(({ command }) => `processes of ${basename(command.split(' ')[0] ?? '')}`)
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => `descriptors of ${kindOfFile(`/proc/${pid}/fd/${fd}`)}`)
  return {
    ...tally([...programs, ...files]),
    mounts: mountCount,
    'network namespaces': networks.size,
    links: [...networks.values()].flat().length,
    'temporary files': temporaryFiles.length,
    ...Object.fromEntries(
      ['pods', 'logs', 'persistent-volumes'].map((folder) => [`folders in ${folder}`, readdirSync(join(podsFolder, folder)).length]),
    ),
    'folders of containers': containerFolders(processes.map((process) => process.pid)),
  }
}

/**
 * Returns one line for each number that has changed. The number of sockets counts as changed only if the number has grown by more than
 * `toleratedSockets`.
 */
export function countDifferences(before: ShopCounts, now: ShopCounts): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return names.flatMap((name) => {
    const [earlier, later] = [before[name] ?? 0, now[name] ?? 0]
    const isEqual = name === 'descriptors of socket' ? later <= earlier + toleratedSockets : later === earlier
    return isEqual ? [] : [`${name}: ${later} instead of ${earlier}`]
  })
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Returns the kind of an open file: `pipe`, `socket`, `anon_inode`, or `file`. */
function kindOfFile(path: string): string {
  try {
    return /^(\w+):/.exec(readlinkSync(path))?.[1] ?? 'file'
  } catch {
    return 'file'
  }
}

/**
 * Counts the folders of containers. They are in a tmpfs that is visible only to the processes of the cluster. Therefore, they are read
 * through /proc.
 */
function containerFolders(pids: readonly number[]): number {
  const [folder] = readdirSync(tmpdir())
  const counts = pids.map((pid) => {
    try {
      const root = `/proc/${pid}/root${join(tmpdir(), folder ?? '')}`
      return readdirSync(root).reduce((sum, pod) => sum + readdirSync(join(root, pod)).length, 0)
    } catch {
      return 0
    }
  })
  return Math.max(...counts)
}
