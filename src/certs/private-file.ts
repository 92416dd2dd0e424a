/**
 * Reads and writes files with secrets. Only the owner of such a file can read it, and git ignores the file. The files are written
 * atomically.
 */
import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Creates a folder with mode 0700. A `.gitignore` in the folder excludes all files of the folder, so that `git add .` never adds keys to a
 * repository. An existing folder is not changed.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made !== undefined) await writeFile(join(path, '.gitignore'), '*\n', { mode: 0o600 })
}

/** Writes a file atomically with mode 0600, and creates its folder if it is missing. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    await makePrivateFolder(dirname(path))
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/**
 * Reads a file that `writePrivateFile` has written. Like ssh with private keys, the function rejects a file that other users could have
 * read or changed.
 *
 * @throws an error when the file cannot be read, or `checkPrivateFile` would reject it.
 */
export async function readPrivateFile(path: string): Promise<string> {
  const file = await open(path)
  try {
    checkPrivate(await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/**
 * Rejects a file that other users could have read or changed.
 *
 * @throws an error when the file cannot be accessed, when its owner is neither root nor the user of this process, or when its mode has
 *   permissions for the group or for others. The message about a wrong owner or mode contains only the reason, such as `its mode is …`.
 */
export async function checkPrivateFile(path: string): Promise<void> {
  checkPrivate(await stat(path))
}

function checkPrivate(stats: Stats): void {
  const { mode } = stats
  if (isForeign(stats)) throw new Error(`it belongs to user ${stats.uid}, and this process runs as user ${process.getuid?.()}`)
  if (knowsUsers && (mode & 0o077) !== 0) throw new Error(`its mode is ${octal(mode)}, so that others may know or change it, expected 0600`)
}

/**
 * Rejects a folder in which other users could replace files: a folder of another user, or a folder to which everybody may write. A missing
 * folder is accepted, because it is created later with mode 0700.
 *
 * @throws an error when the folder is rejected. The message contains only the reason, such as `its folder belongs to user …`.
 */
export async function checkPrivateFolder(path: string): Promise<void> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  if (stats === undefined) return
  if (isForeign(stats)) throw new Error(`its folder belongs to user ${stats.uid}, and this process runs as user ${process.getuid?.()}`)
  // A folder with the sticky bit, such as /tmp, is accepted, because only the owner of a file may replace the file there.
  if (knowsUsers && (stats.mode & 0o1002) === 0o002)
    throw new Error(`everybody may write to its folder (mode ${octal(stats.mode)}), expected 0700`)
}

/** False on Windows, where files have no user id and no meaningful mode. */
const knowsUsers = process.getuid !== undefined

/**
 * Returns true when a file belongs neither to root nor to the user of this process. Root is not a foreign user, because root can read and
 * replace every file in any case. On Windows, always returns false.
 */
function isForeign({ uid }: Stats): boolean {
  return knowsUsers && uid !== 0 && uid !== process.getuid?.()
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}
