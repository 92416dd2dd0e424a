/** Files with secrets: readable by their owner alone, and never seen half-written. */
import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ProreusError, messageOf } from '../../api/errors.ts'

/**
 * Writes a file with mode 0600 and makes its folder (0700) if there is none.
 * The file appears complete, or an older one is replaced as a whole.
 */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw new ProreusError(
      'PRO_STATE_FILE',
      `Cannot write ${path}: ${messageOf(error)}. Choose another folder, or make this one writable.`,
      { cause: error },
    )
  }
}
