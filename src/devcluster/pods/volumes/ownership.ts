/** The owners and permissions of the files in volumes (k8s.io/kubernetes/pkg/volume: volume_linux.go). */
import { chmod, lchown, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, statsOf, unlessMissing } from './file-system.ts'

/** A change of one file or folder. For a symbolic link, the owner of the link itself changes, and `mode` is absent. */
export interface OwnershipChange {
  readonly path: string
  /** The user ID (UID) of the new owner, as the containers see the UID. Default: the owner is unchanged. */
  readonly uid?: number
  /** The group ID (GID) of the new group, as the containers see the GID. Default: the group is unchanged. */
  readonly gid?: number
  /** The permissions. They are set after the owner, because a change of the owner clears the setgid bit. Default: unchanged. */
  readonly mode?: number
}

/**
 * Changes owners and permissions in the order of the list. If the driver uses subordinate ids, a process in the user namespace makes the
 * changes.
 */
export type ChangeOwnership = (changes: readonly OwnershipChange[]) => Promise<void>

export type FsGroupChangePolicy = 'Always' | 'OnRootMismatch'

/** Sets the group of all files of a volume, and permits the group to use the files. */
export type SetGroup = (root: string, gid: number, options: VolumeGroup) => Promise<void>

export interface VolumeGroup {
  readonly isReadOnly: boolean
  /**
   * If the policy is `OnRootMismatch` and the root of the volume already has the correct group and permissions, no file of the volume is
   * changed. Default: `Always`.
   */
  readonly policy?: FsGroupChangePolicy | undefined
}

/** The permission bits of the owner and the group (volume_linux.go: rwMask, roMask, execMask), and the setgid bit of folders. */
const [writable, readable, searchable, setgid] = [0o660, 0o440, 0o110, 0o2000]
/** The maximum number of changes in one call of `change`. This limit keeps the memory use low for a volume with many files. */
const batchSize = 1000

/**
 * The errors that are ignored. EPERM: this process may not change the file. EINVAL: the id does not exist in the user namespace of this
 * process. ENOENT: the file was removed after it was found. The kubelet ignores all errors (volume_linux.go: changeFilePermission).
 */
const ignored: ReadonlySet<string | undefined> = new Set(['EPERM', 'EINVAL', 'ENOENT'])

/**
 * Changes owners and permissions of files. The changes are made with the rights of the user who runs this process. If this user may not
 * change the owner of a file, the file keeps its owner. In this case, all containers run as this user, so the containers can use the file.
 */
export const changeOwnership: ChangeOwnership = async (changes) => {
  for (const { path, uid = unchanged, gid = unchanged, mode } of changes) {
    await unlessIgnored(lchown(path, uid, gid))
    if (mode !== undefined) await unlessIgnored(chmod(path, mode))
  }
}

const unchanged = -1

async function unlessIgnored(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!ignored.has(codeOf(error))) throw error
  }
}

export interface GroupOptions extends VolumeGroup {
  readonly change: ChangeOwnership
}

/**
 * Sets the group of all files of a volume (`fsGroup`). The group may then read the files, and also write them if the volume is not
 * read-only (volume_linux.go: ChangePermissions).
 *
 * `OnRootMismatch` skips a volume whose root already has the group and the permissions. The root is therefore changed last: after an
 * interrupted call, the next call changes all files again.
 */
export async function setGroup(root: string, gid: number, { isReadOnly, policy, change }: GroupOptions): Promise<void> {
  if (policy === 'OnRootMismatch' && (await hasGroup(root, gid, isReadOnly))) return
  let batch: OwnershipChange[] = []
  for await (const path of filesDepthFirst(root)) {
    const stats = await statsOf(path)
    if (stats === undefined) continue
    const added = (isReadOnly ? readable : writable) | (stats.isDirectory() ? setgid | searchable : 0)
    batch.push({ path, gid, ...(!stats.isSymbolicLink() && { mode: (stats.mode & 0o7777) | added }) })
    if (batch.length < batchSize) continue
    await change(batch)
    batch = []
  }
  if (batch.length > 0) await change(batch)
}

/** Resolves with true when the root of a volume has the required group and permissions (volume_linux.go: requiresPermissionChange). */
async function hasGroup(root: string, gid: number, isReadOnly: boolean): Promise<boolean> {
  const stats = await lstat(root)
  const required = (isReadOnly ? readable : writable) | searchable | setgid
  return stats.isDirectory() && stats.gid === gid && (stats.mode & required) === required
}

/** Yields the files below a folder, and each folder after its content. Symbolic links are not followed. */
async function* filesDepthFirst(path: string): AsyncGenerator<string> {
  // The folders that are being read, from the outermost to the innermost. The function is not recursive, because very deeply nested folders
  // would overflow the stack.
  const open: { readonly path: string; readonly entries: AsyncIterator<{ readonly name: string; isDirectory(): boolean }> }[] = []
  const enter = async (folder: string): Promise<void> => {
    const entries = await unlessMissing(opendir(folder))
    if (entries !== undefined) open.push({ path: folder, entries: entries[Symbol.asyncIterator]() })
  }
  try {
    await enter(path)
    for (let folder = open.at(-1); folder !== undefined; folder = open.at(-1)) {
      const { done, value } = await folder.entries.next()
      if (done === true) {
        open.pop()
        yield folder.path
      } else if (value.isDirectory()) await enter(join(folder.path, value.name))
      else yield join(folder.path, value.name)
    }
  } finally {
    for (const { entries } of open) await entries.return?.()
  }
}
