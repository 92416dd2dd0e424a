/** Prevents two `proreus dev` processes from using the same state folder: the second one would overwrite the kubeconfig of the first. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ProreusError, messageOf } from '../api/errors.ts'
import { makePrivateFolder } from '../certs/private-file.ts'

/**
 * Makes this process the owner of the folder by writing the process id to the file `dev.pid` there. An existing file is replaced if the
 * process that it names does not run. The returned function deletes the file.
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
      // Another process may start at the same time. If it has created its file after this `rm`, the next line throws. If it has created its
      // file before this `rm`, the `rm` has deleted this file, and both processes become owners. The second case is not detected.
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
 * Returns true when another process with this id exists. Signal 0 only checks for the process (kill(2)). EPERM means that the process
 * belongs to another user.
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
