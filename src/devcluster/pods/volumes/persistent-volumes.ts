/** The folders of PersistentVolumes. These folders are kept when Pods are deleted. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './file-system.ts'
import { persistentVolumeFolder } from './state-folders.ts'

/**
 * Removes the folders of all PersistentVolumes that no longer exist. Called when the cluster starts, because an earlier run can end before
 * the folder of a deleted PersistentVolume is removed.
 *
 * @param existing the names of the PersistentVolumes that exist.
 * @param removeFolder removes a folder whose files may belong to other users.
 */
export async function removeDeletedVolumes(
  stateFolder: string,
  existing: ReadonlySet<string>,
  removeFolder: (path: string) => Promise<void>,
): Promise<void> {
  const names = (await unlessMissing(readdir(join(stateFolder, 'persistent-volumes')))) ?? []
  for (const name of names) if (!existing.has(name)) await removeFolder(persistentVolumeFolder(stateFolder, name))
}
