/** Prepares the file system of a container, and writes fstab(5) files with the mounts that the start script makes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerOptions } from '../driver.ts'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import { ContainerRoot } from './container-root.ts'
import type { MountSupport } from './mount-support.ts'
import { planContainerRoot } from './mount-support.ts'
import { MountTable, fstab } from './mount-table.ts'
import type { MissingPath, PlacedMounts } from './volume-mounts.ts'
import { ReadOnlyFolderError, placeFolder, placeMounts } from './volume-mounts.ts'

export interface PrepareOptions {
  readonly cluster: ClusterSandbox
  readonly support: MountSupport
  /** The path of the container's folder, relative to `cluster.directory`. */
  readonly name: string
  /** The folder that the containers of the Pod share as /dev/shm. */
  readonly sharedMemory: string
  readonly container: Pick<ContainerOptions, 'image' | 'isRootReadOnly' | 'mounts'>
  readonly workingDirectory: string
}

export interface PreparedRoot {
  readonly root: ContainerRoot
  /** The folders and files that the start script creates. */
  readonly missing: readonly MissingPath[]
}

/** @throws {ContainerStartError} when a volume cannot be mounted or the working directory cannot be created. */
export async function prepareRoot(options: PrepareOptions): Promise<PreparedRoot> {
  const mounts = await MountTable.of(options.cluster.pid)
  const mountPoints = [...mounts.mountPoints]
  for (;;) {
    try {
      return await prepare(options, mounts, mountPoints)
    } catch (error) {
      if (!(error instanceof ReadOnlyFolderError) || mountPoints.includes(error.path)) throw error
      // The missing path is in a folder that is mounted read-only, so the path cannot be created. The next plan treats the path as a mount
      // point, and therefore replaces the read-only folders above the path with new folders.
      mountPoints.push(error.path)
      await options.cluster.remove([options.name])
    }
  }
}

async function prepare(options: PrepareOptions, mounts: MountTable, mountPoints: readonly string[]): Promise<PreparedRoot> {
  const { cluster, support, name, sharedMemory, container, workingDirectory } = options
  const { image = '/', isRootReadOnly } = container
  const entries = await planContainerRoot(image, support, mountPoints)
  const root = new ContainerRoot({ cluster, name, sharedMemory, entries, mounts, support, isReadOnly: isRootReadOnly })
  const place = { ids: cluster.ids, mounts, isRootReadOnly }
  const placed: PlacedMounts = await placeMounts(root, container.mounts, place)
  const missing = [...placed.missing, ...(await placeFolder(root, workingDirectory, place))]
  writeFileSync(join(root.files, 'root.fstab'), root.fstab)
  writeFileSync(join(root.files, 'volumes.fstab'), fstab(placed.entries))
  writeFileSync(join(root.files, 'proc.fstab'), root.procFstab)
  return { root, missing }
}
