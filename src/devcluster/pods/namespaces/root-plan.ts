/**
 * `planRoot`: plans the file system of a container without its volumes. A container sees folders of this machine or of an image through
 * overlays. The overlays store the changes of the container, so the folders themselves do not change.
 */
import { constants } from 'node:fs'
import type { Dirent } from 'node:fs'
import { access, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isWithin } from './mount-table.ts'

/**
 * An entry of the container's root file system. `path` is an absolute path in the container. In a list of entries, each folder comes before
 * the entries that are in this folder.
 */
export type RootEntry = OverlayEntry | BindEntry | FolderEntry | LinkEntry

/** A folder that the container sees through an overlay. The overlay stores the changes of the container. */
export interface OverlayEntry {
  readonly kind: 'overlay'
  readonly path: string
  readonly source: string
  readonly mode: number
}

/** A folder or a file that is mounted read-only, without an overlay. */
export interface BindEntry {
  readonly kind: 'bind'
  readonly path: string
  readonly source: string
  readonly isFolder: boolean
}

/** A new folder. It can contain other entries of the root. */
export interface FolderEntry {
  readonly kind: 'folder'
  readonly path: string
  readonly mode: number
}

/** A symbolic link. */
export interface LinkEntry {
  readonly kind: 'link'
  readonly path: string
  readonly target: string
}

export interface RootPlanOptions {
  /** The folder whose entries the container sees. */
  readonly source: string
  /** Returns true when an overlay of the folder is impossible. */
  isWithoutOverlay(source: string): boolean
  /** Returns true when the folder or file cannot be mounted at all. */
  isHidden(source: string): boolean
  /**
   * Paths whose parent folders cannot be mounted as a whole:
   *
   * - The mount points of this machine: an overlay of a parent folder would not show the file system at the mount point.
   * - Paths that must be created in folders that would otherwise be read-only.
   *
   * Each parent folder of such a path is a new folder in the container. The entries that the parent folder has in `source` are mounted into
   * the new folder one by one.
   */
  readonly mountPoints: readonly string[]
}

/** The new folders in the root, with their modes. These folders replace the folders with the same paths in `source`. */
const ownFolderModes = new Map([
  ['/dev', 0o755],
  ['/proc', 0o555],
  ['/run', 0o755],
  ['/sys', 0o555],
  ['/tmp', 0o1777],
])

/**
 * The paths of folders that containers do not share with this machine. If no folder is configured as the file system of a container's
 * image, the container sees the other folders of this machine, but its own folders at these paths.
 */
export const ownFolders: readonly string[] = [...ownFolderModes.keys()]

/**
 * The maximum number of entries in a folder whose entries are mounted one by one. If a path in `mountPoints` is below a folder, the entries
 * of this folder are mounted one by one. If the folder has more entries than the maximum, the folder is mounted as a whole instead. The
 * maximum does not apply to the folder `/`.
 */
const maxEntries = 500

export async function planRoot(options: RootPlanOptions): Promise<readonly RootEntry[]> {
  const { source, isWithoutOverlay } = options
  if (!isWithoutOverlay(source)) return [{ kind: 'overlay', path: '/', source, mode: (await stat(source)).mode & 0o7777 }]
  const own = [...ownFolderModes].map(([path, mode]): RootEntry => ({ kind: 'folder', path, mode }))
  const found = await readdir(source, { withFileTypes: true })
  return [
    ...own,
    ...(await planEntries(
      '/',
      found.filter(({ name }) => !ownFolderModes.has(`/${name}`)),
      options,
    )),
  ]
}

async function planEntries(folder: string, found: readonly Dirent[], options: RootPlanOptions): Promise<readonly RootEntry[]> {
  const planned = await Promise.all(found.map((entry) => planEntry(join(folder, entry.name), entry, options)))
  return planned.flat()
}

async function planEntry(path: string, entry: Dirent, options: RootPlanOptions): Promise<readonly RootEntry[]> {
  const source = join(options.source, path)
  if (options.isHidden(source)) return []
  if (entry.isSymbolicLink()) return [{ kind: 'link', path, target: await readlink(source) }]
  if (entry.isFile() || entry.isSocket()) return [{ kind: 'bind', path, source, isFolder: false }]
  // Devices and pipes are omitted.
  return entry.isDirectory() ? planFolder(path, source, options) : []
}

async function planFolder(path: string, source: string, options: RootPlanOptions): Promise<readonly RootEntry[]> {
  const isReadable = await access(source, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  // If Proreus has no permission to read a folder, for example /root, the container gets an empty folder instead. The root user of the
  // container can use this empty folder.
  if (!isReadable) return [{ kind: 'folder', path, mode: 0o700 }]
  const mode = (await stat(source)).mode & 0o7777
  if (options.mountPoints.some((mountPoint) => mountPoint !== path && isWithin(mountPoint, path))) {
    const found = await readdir(source, { withFileTypes: true })
    if (found.length <= maxEntries) return [{ kind: 'folder', path, mode }, ...(await planEntries(path, found, options))]
  }
  return [options.isWithoutOverlay(source) ? { kind: 'bind', path, source, isFolder: true } : { kind: 'overlay', path, source, mode }]
}
