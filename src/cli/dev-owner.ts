/** Prevents two `proreus dev` processes from using the same state folder, because both would write the same kubeconfig. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ProreusError, messageOf } from '../api/errors.ts'
import { makePrivateFolder } from '../certs/private-file.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { isRunning, thisProcess } from './process-identity.ts'

/**
 * Makes this process the owner of the folder: writes its id and its start time to the file `dev.pid` in the folder. A file of a process
 * that no longer runs is replaced. The returned function deletes the file.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when another process owns the folder, or the folder cannot be written.
 */
export async function ownStateFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'dev.pid')
  try {
    await makePrivateFolder(folder)
    if (!(await claim(path))) {
      const owner = await ownerOf(path)
      if (owner !== undefined && owner.pid !== process.pid && (await isRunning(owner))) throw ownedBy(owner, folder, path)
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

/**
 * Writes the id and the start time of this process to a new file. The start time has the prefix `started=`. Without the prefix, `kill $(cat
 * dev.pid)` would use the start time as another process id. Returns false when the file already exists.
 */
async function claim(path: string): Promise<boolean> {
  const { pid, started } = await thisProcess()
  try {
    await writeFile(path, `${pid}\n${started === undefined ? '' : `started=${started}\n`}`, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Reads the process id and the start time from the file. Returns undefined when the file is missing or contains no process id. */
async function ownerOf(path: string): Promise<ProcessIdentity | undefined> {
  const [id = '', ...others] = (await readFile(path, 'utf8').catch(() => '')).split('\n')
  const pid = Number(id.trim())
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  const started = /^started=(\d+)$/m.exec(others.join('\n'))?.[1]
  return { pid, ...(started !== undefined && { started }) }
}

function ownedBy(owner: ProcessIdentity | undefined, folder: string, path: string): ProreusError {
  const who = owner === undefined ? 'Another process' : `Process ${owner.pid}`
  return new ProreusError(
    'PRO_STATE_FILE',
    `${who} runs proreus dev with ${folder} already: stop it, choose another folder with --state-dir, or delete ${path} if that process is something else.`,
  )
}
