/** Plans the mounts of the volumes of a container, and creates the paths of the mounts. */
import { chmodSync, chownSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { Mount } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import type { ContainerRoot } from './container-root.ts'
import type { IdMapping } from './id-mapping.ts'
import { makeFolder } from './make-folder.ts'
import type { FstabEntry, MountTable } from './mount-table.ts'
import type { Layer, Resolved } from './root-view.ts'

/** A path that the start script creates after it has mounted the root of the container. */
export interface MissingPath {
  readonly path: string
  readonly isFolder: boolean
}

export interface PlacedMounts {
  readonly entries: readonly FstabEntry[]
  readonly missing: readonly MissingPath[]
}

export interface PlaceOptions {
  readonly ids: IdMapping
  readonly mounts: MountTable
  readonly isRootReadOnly: boolean
}

/**
 * Thrown when a path is missing in a folder that is mounted read-only. `prepareRoot` can then plan a new folder in place of the read-only
 * folder.
 */
export class ReadOnlyFolderError extends ContainerStartError {
  readonly path: string

  constructor(path: string) {
    super(`${path}: the path does not exist, and it cannot be created because its folder is read-only`)
    this.path = path
  }
}

/**
 * Resolves the target of each mount in the container. If a target is missing, the function does one of the following:
 *
 * - If the target is in an overlay and the start script can create the target, the function returns the target in `missing`.
 * - Otherwise, the function creates the target.
 *
 * @throws {ContainerStartError} when a source does not exist or a target cannot be created.
 */
export async function placeMounts(root: ContainerRoot, mounts: readonly Mount[], options: PlaceOptions): Promise<PlacedMounts> {
  const entries: FstabEntry[] = []
  const missing: MissingPath[] = []
  // A folder must be mounted before the mounts inside of it. Otherwise, the folder would cover these mounts
  // (github.com/containerd/containerd: sortMounts).
  for (const mount of [...mounts].sort((a, b) => depthOf(a.target) - depthOf(b.target))) {
    const { isReadOnly } = mount
    const source = await sourceOf(mount)
    const isFolder = (await stat(source)).isDirectory()
    const target = await root.view.resolve(mount.target)
    const layer = root.view.layerOf(target.path)
    if (target.path === '/' || layer.path === '/proc')
      throw new ContainerStartError(`invalid mount path ${mount.target}: nothing can be mounted at / or in /proc`)
    if (target.existing !== target.path) missing.push(...create(layer, target, isFolder, options))
    root.view.add({ path: target.path, sources: [source], kind: isReadOnly ? 'read-only' : 'writable' })
    const kept = isReadOnly ? ['ro', ...options.mounts.optionsToKeep(source)] : []
    entries.push({ source, target: root.pathOf(target.path), options: ['rbind', ...kept] })
  }
  return { entries, missing }
}

/**
 * Creates a folder of the container if the folder is missing. If the start script must create the folder, returns the folder and creates
 * nothing.
 */
export async function placeFolder(root: ContainerRoot, path: string, options: PlaceOptions): Promise<readonly MissingPath[]> {
  const target = await root.view.resolve(path)
  return target.existing === target.path ? [] : create(root.view.layerOf(target.path), target, true, options)
}

async function sourceOf({ source, target }: Mount): Promise<string> {
  try {
    return await realpath(source)
  } catch (error) {
    throw new ContainerStartError(`cannot mount ${source} at ${target}`, { cause: error })
  }
}

function depthOf(path: string): number {
  return posix
    .normalize(path)
    .split('/')
    .filter((part) => part !== '').length
}

/** Creates a missing path. If the start script must create the path, returns the path and creates nothing. */
function create(layer: Layer, target: Resolved, isFolder: boolean, { ids, isRootReadOnly }: PlaceOptions): readonly MissingPath[] {
  if (layer.kind === 'read-only' || layer.kind === 'kernel') throw new ReadOnlyFolderError(target.path)
  // If possible, the start script creates a path in an overlay, so that the folders above the path keep their owners and modes. In the
  // following cases, the script cannot create the path, and Proreus creates the path in the upper folder of the overlay:
  //
  // - The overlay is read-only.
  // - The owner or group of a folder above the path has no id in the container. Linux then refuses to create the path.
  if (layer.kind === 'overlay' && !isRootReadOnly && hasOwners(layer, target.existing, ids)) return [{ path: target.path, isFolder }]
  try {
    createFile(layer, target.path, isFolder, ids)
  } catch (error) {
    throw new ContainerStartError(`cannot create the mount path ${target.path}`, { cause: error })
  }
  return []
}

/**
 * Returns true when the user namespace of the container has ids for the owner and the group of `path` and of each folder between the top of
 * the layer and `path`.
 */
function hasOwners(layer: Layer, path: string, ids: IdMapping): boolean {
  return foldersBetween(layer.path, path).every((folder) => {
    const found = pathsIn(layer, folder).find((one) => existsSync(one))
    const stats = found === undefined ? undefined : statSync(found)
    return stats === undefined || ids.hasOwner(stats.uid, stats.gid)
  })
}

function createFile(layer: Layer, path: string, isFolder: boolean, ids: IdMapping): void {
  const folders = foldersBetween(layer.path, path)
  const file = isFolder ? undefined : folders.pop()
  for (const folder of folders) {
    const [at = '', ...below] = pathsIn(layer, folder)
    if (existsSync(at)) continue
    makeFolder(at)
    const covered = below.find((one) => existsSync(one))
    if (covered !== undefined) copyAttributes(covered, at, ids)
  }
  if (file !== undefined) writeFileSync(pathsIn(layer, file)[0] ?? '', '', { flag: 'wx' })
}

function copyAttributes(source: string, copy: string, ids: IdMapping): void {
  const { mode, uid, gid } = statSync(source)
  if (ids.kind === 'machine') chownSync(copy, uid, gid)
  chmodSync(copy, mode & 0o7777)
}

/** Returns the folders between `top` and `path`, and `path` itself. */
function foldersBetween(top: string, path: string): string[] {
  const parts = posix
    .relative(top, path)
    .split('/')
    .filter((part) => part !== '')
  return parts.map((_, index) => posix.join(top, ...parts.slice(0, index + 1)))
}

function pathsIn(layer: Layer, path: string): readonly string[] {
  return layer.sources.map((source) => join(source, posix.relative(layer.path, path)))
}
