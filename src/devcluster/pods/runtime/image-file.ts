/** `readImageFile`: reads the text of a small file in the folder of an image. */
import { RootView } from '../namespaces/root-view.ts'
import { readRegularFile } from './regular-file.ts'

/**
 * Resolves with the text of a file in an image; undefined when the file does not exist. Symbolic links are resolved as in the container, so
 * they never lead out of the image.
 *
 * @param image the folder of the image
 * @param path an absolute path in the container
 * @throws {Error} when the file cannot be read (see `readRegularFile`), or when symbolic links form a loop
 */
export async function readImageFile(image: string, path: string): Promise<string | undefined> {
  const view = new RootView()
  view.add({ path: '/', sources: [image], kind: 'overlay' })
  const [file = ''] = view.hostPaths((await view.resolve(path)).path)
  try {
    return await readRegularFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
