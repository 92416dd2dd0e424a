/** Small operations on files and folders. */
import { chmod, lstat, mkdir, readlink } from 'node:fs/promises'
import type { Stats } from 'node:fs'

/** Returns the code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

/** Resolves with the result of `work`, or with undefined if `work` fails because a file or folder does not exist. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Resolves with the stats of `path`, or with undefined if `path` does not exist. For a symbolic link, the stats are those of the link. */
export function statsOf(path: string): Promise<Stats | undefined> {
  return unlessMissing(lstat(path))
}

/** Resolves with the target of a symbolic link, or with undefined if `path` does not exist or is not a symbolic link. */
export async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EINVAL') return undefined
    throw error
  }
}

/** Creates a folder and its missing parents. If the folder is new, it has the permissions `mode`, whatever the umask of this process is. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const created = await mkdir(path, { recursive: true })
  if (created !== undefined) await chmod(path, mode)
}
