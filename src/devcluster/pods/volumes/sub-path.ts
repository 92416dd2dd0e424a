/** `prepareSubPath`: finds the part of a volume that a container mounts (`subPath`; k8s.io/kubernetes/pkg/volume/util/subpath). */
import { chmod, mkdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { codeOf, statsOf, targetOf } from './file-system.ts'

/** Maximum number of symbolic links that are followed (Linux: MAXSYMLINKS). */
const maxLinks = 40

/**
 * Resolves with the path of `subPath` within a volume. The path contains no symbolic link. Missing folders are created with the permissions
 * of the volume.
 *
 * A container can write symbolic links into its volume. A relative link is followed if its target is within the volume. Nothing outside the
 * volume is opened. If a container replaces a folder by a link between this call and the mount, the replacement is not detected.
 *
 * @throws {Error} in these cases:
 *
 * - The path leads out of the volume.
 * - The path contains an absolute link or too many links.
 * - The path leads through a file that is not a folder.
 */
export async function prepareSubPath(volume: string, subPath: string): Promise<string> {
  const root = await realpath(volume)
  const mode = (await stat(root)).mode & 0o7777
  /** The remaining elements of the path in reverse order: the last item of the array is the next element of the path. */
  const names = subPath.split('/').reverse()
  let path = root
  let links = 0
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (path === root) throw outside(subPath)
      path = path.slice(0, path.lastIndexOf(sep))
      continue
    }
    const next = join(path, name)
    const target = await targetOf(next)
    if (target === undefined) {
      if ((await statsOf(next)) === undefined) await makeSubFolder(next, mode)
      path = next
      continue
    }
    if (target.startsWith('/')) throw outside(subPath)
    links += 1
    if (links > maxLinks) throw new Error(`subPath ${JSON.stringify(subPath)} has too many symbolic links`)
    names.push(...target.split('/').reverse())
  }
  return path
}

async function makeSubFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    // Another container may create the same folder at the same time.
    if (codeOf(error) !== 'EEXIST') throw error
  }
  await chmod(path, mode)
}

function outside(subPath: string): Error {
  return new Error(`subPath ${JSON.stringify(subPath)} leads out of the volume`)
}
