/** `IdMapping`: the user and group ids that exist in the user namespace of the cluster. */
import { readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { runProgram } from './programs.ts'

export interface IdMapping {
  /**
   * - `machine`: there is no user namespace. Proreus runs as root of the machine, and all ids are those of the machine.
   * - `subordinate`: id 0 is the user who runs Proreus. The other ids are the user's subordinate ids (subuid(5)).
   * - `single`: id 0 is the user who runs Proreus. No other id exists.
   */
  readonly kind: 'machine' | 'subordinate' | 'single'
  /** The number of user ids in the user namespace. The largest uid is `uids - 1`. */
  readonly uids: number
  readonly gids: number
  /**
   * Returns true when the owner and the group of a file both have an id in the user namespace. `uid` and `gid` are the ids of the owner and
   * the group on this machine.
   */
  hasOwner(uid: number, gid: number): boolean
  /**
   * Writes the maps of user ids and group ids of the user namespace in which the process `pid` runs (user_namespaces(7)). The user
   * namespace must be new, because the kernel accepts each map only once. If the kind is `machine`, does nothing, because there is no user
   * namespace.
   */
  apply(pid: number): Promise<void>
}

/**
 * The number of all user ids, which is also the number of all group ids. The largest id is 2³²-2, because the value 2³²-1 stands for "no
 * id" (user_namespaces(7)).
 */
const allIds = 2 ** 32 - 1

/**
 * Returns the mappings to try, the best mapping first. A mapping may fail, because the kernel or a security module can forbid it.
 *
 * @param files the files of subordinate ids. Default: those of this machine.
 */
export async function idMappings(files = { uids: '/etc/subuid', gids: '/etc/subgid' }): Promise<readonly IdMapping[]> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const [uidRanges, gidRanges] = await Promise.all([subordinateRanges(files.uids, uid), subordinateRanges(files.gids, uid)])
  return [
    ...(uid === 0 && (await hasAllIds()) ? [machineIds] : []),
    ...(uidRanges.length > 0 && gidRanges.length > 0 ? [subordinateIds(idMap(uid, uidRanges), idMap(gid, gidRanges))] : []),
    singleId(uid, gid),
  ]
}

/** Returns false when Proreus runs in a user namespace. Root of such a namespace is not root of the machine. */
async function hasAllIds(): Promise<boolean> {
  const map = await readFile('/proc/self/uid_map', 'utf8').catch(() => '')
  return map.trim().split(/\s+/).join(' ') === `0 0 ${allIds}`
}

const machineIds: IdMapping = { kind: 'machine', uids: allIds, gids: allIds, hasOwner: () => true, apply: () => Promise.resolve() }

/** A range of `count` ids. `inside` is its first id in the user namespace, and `outside` is its first id in the parent namespace. */
interface IdRange {
  readonly inside: number
  readonly outside: number
  readonly count: number
}

/**
 * Returns the map of the user ids or group ids in the user namespace. Id 0 is mapped to `id`, the uid or gid of the user who runs Proreus.
 * The ids greater than 0 are mapped to the subordinate ids in `ranges`.
 */
function idMap(id: number, ranges: readonly Omit<IdRange, 'inside'>[]): readonly IdRange[] {
  const map: IdRange[] = [{ inside: 0, outside: id, count: 1 }]
  for (const range of ranges) map.push({ inside: sizeOf(map), ...range })
  return map
}

function sizeOf(map: readonly IdRange[]): number {
  return map.reduce((sum, { count }) => sum + count, 0)
}

function contains(map: readonly IdRange[], id: number): boolean {
  return map.some(({ outside, count }) => id >= outside && id < outside + count)
}

function subordinateIds(uidMap: readonly IdRange[], gidMap: readonly IdRange[]): IdMapping {
  const words = (map: readonly IdRange[]): string[] =>
    map.flatMap(({ inside, outside, count }) => [String(inside), String(outside), String(count)])
  return {
    kind: 'subordinate',
    uids: sizeOf(uidMap),
    gids: sizeOf(gidMap),
    hasOwner: (uid, gid) => contains(uidMap, uid) && contains(gidMap, gid),
    async apply(pid) {
      await runProgram(['newuidmap', String(pid), ...words(uidMap)])
      await runProgram(['newgidmap', String(pid), ...words(gidMap)])
    },
  }
}

function singleId(uid: number, gid: number): IdMapping {
  return {
    kind: 'single',
    uids: 1,
    gids: 1,
    hasOwner: (ownerUid, ownerGid) => ownerUid === uid && ownerGid === gid,
    async apply(pid) {
      // An unprivileged process may map a group id only after setgroups(2) has been denied (user_namespaces(7)).
      await writeFile(`/proc/${pid}/setgroups`, 'deny')
      await writeFile(`/proc/${pid}/uid_map`, `0 ${uid} 1`)
      await writeFile(`/proc/${pid}/gid_map`, `0 ${gid} 1`)
    },
  }
}

/**
 * Reads the ranges of subordinate ids of a user from /etc/subuid or /etc/subgid. In both files, each line begins with the login name or the
 * uid of a user.
 */
async function subordinateRanges(file: string, uid: number): Promise<Omit<IdRange, 'inside'>[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const names = [loginName(), String(uid)]
  return text.split('\n').flatMap((line) => {
    const [name = '', start, length] = line.split(':')
    const [outside, count] = [Number(start), Number(length)]
    return names.includes(name) && outside > 0 && count > 0 ? [{ outside, count }] : []
  })
}

/** Returns the login name of the user who runs Proreus. */
export function loginName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // This error means that the user has no entry in /etc/passwd.
    return undefined
  }
}
