/** Reads and writes the files in which an embedded API server stores secrets: its state and its kubeconfigs. */
import { dirname } from 'node:path'
import { ProreusError, messageOf } from '../../api/errors.ts'
import { checkPrivateFolder, readPrivateFile, writePrivateFile } from '../../certs/private-file.ts'

/**
 * Returns the content of the file; undefined when the file does not exist.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when the file cannot be read, or when other users could have read or replaced it.
 */
export async function readStateFile(path: string): Promise<string | undefined> {
  try {
    await checkPrivateFolder(dirname(path))
    return await readPrivateFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ProreusError(
      'PRO_STATE_FILE',
      `Cannot use ${path}: ${messageOf(error)}. Make it and its folder your own and private (chmod 600 and 700), or delete it to start with a new state.`,
      { cause: error },
    )
  }
}

/**
 * Writes a file atomically. Only the owner of the file can read the file.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when the file cannot be written.
 */
export async function writeStateFile(path: string, content: string): Promise<void> {
  try {
    await writePrivateFile(path, content)
  } catch (error) {
    throw new ProreusError(
      'PRO_STATE_FILE',
      `Cannot write ${path}: ${messageOf(error)}. Choose another folder, or make this one writable.`,
      { cause: error },
    )
  }
}
