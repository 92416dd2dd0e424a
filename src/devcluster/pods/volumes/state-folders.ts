/** The folders of Pods and PersistentVolumes, below the state folder of the cluster. */
import { join } from 'node:path'

/** Returns the folder of a Pod. The folder is removed together with the Pod. */
export function podFolder(stateFolder: string, podUid: string): string {
  return join(stateFolder, 'pods', pathComponent(podUid))
}

/** Returns the folder of a PersistentVolume. The folder is removed together with the PersistentVolume, and not when a Pod is removed. */
export function persistentVolumeFolder(stateFolder: string, volumeName: string): string {
  return join(stateFolder, 'persistent-volumes', pathComponent(volumeName))
}

/** Maximum length of a file name in bytes (k8s.io/kubernetes/pkg/volume/util: maxFileNameLength). */
const maxNameBytes = 255

/**
 * Returns `name` if it can be the name of a file or folder. The API already validates the names of objects. This is a second check.
 *
 * @throws {Error} for any other name, such as `..`.
 */
export function pathComponent(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name) || Buffer.byteLength(name) > maxNameBytes) {
    throw new Error(`${JSON.stringify(name.slice(0, maxNameBytes))} cannot be the name of a file`)
  }
  return name
}
