/** Prevents two `proreus dev` processes from using the same state folder, because both would write the same kubeconfig. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ProreusError, messageOf } from '../api/errors.ts'
import { makePrivateFolder } from '../certs/private-file.ts'

/**
 * Makes this process the owner of the folder: writes the process id to the file `dev.pid` in the folder. An existing file is replaced,
 * unless it contains the id of another process that runs. The returned function deletes the file.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when another process owns the folder, or the folder cannot be written.
 */
export async function ownStateFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'dev.pid')
  try {
    await makePrivateFolder(folder)
    if (!(await claim(path))) {
      const owner = await ownerOf(path)
      if (owner !== undefined && isRunning(owner)) throw ownedBy(owner, folder, path)
      await rm(path, { force: true })
      // Another process may start at the same time, and also create the file. If the other process creates the file after this `rm`, the
      // next line throws. If the other process creates the file before this `rm`, the `rm` deletes the file, and both processes become
      // owners. The second case is not detected.
      if (!(await claim(path))) throw ownedBy(await ownerOf(path), folder, path)
    }
  } catch (cause) {
    if (cause instanceof ProreusError) throw cause
    const problem = `The folder ${folder} cannot be written: ${messageOf(cause)}: choose another one with --state-dir.`
    throw new ProreusError('PRO_STATE_FILE', problem, { cause })
  }
  return () => rm(path, { force: true })
}

/** Writes the id of this process to a new file. Returns false when the file exists already. */
async function claim(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns the process id in the file; undefined when the file is missing or contains no process id. */
async function ownerOf(path: string): Promise<number | undefined> {
  const pid = Number((await readFile(path, 'utf8').catch(() => '')).trim())
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

/**
 * Returns true when the id belongs to another process that runs. Signal 0 has no effect on a process, but fails if the process does not
 * exist (kill(2)). EPERM means that the process exists, and belongs to another user.
 */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function ownedBy(owner: number | undefined, folder: string, path: string): ProreusError {
  const who = owner === undefined ? 'Another process' : `Process ${owner}`
  return new ProreusError(
    'PRO_STATE_FILE',
    `${who} runs proreus dev with ${folder} already: stop it, choose another folder with --state-dir, or delete ${path} if that process is something else.`,
  )
}
