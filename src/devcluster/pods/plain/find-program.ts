/** `findProgram` finds the file of the program that a container runs. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ContainerStartError } from '../driver.ts'

/** The folders in which the C library looks for a program when PATH is not set (exec(3)). */
const defaultPath = '/bin:/usr/bin'

/**
 * Resolves with the absolute path of a program. A name without a slash is looked up in the variable PATH of the container.
 *
 * @param folder the working directory of the container
 * @throws {ContainerStartError} when the program does not exist or is not executable. The message is that of Go's os/exec, which runc uses.
 */
export async function findProgram(program: string, environment: Readonly<Record<string, string>>, folder: string): Promise<string> {
  const quoted = JSON.stringify(program)
  if (program.includes('/')) {
    const path = resolve(folder, program)
    const problem = await problemOf(path)
    if (problem !== undefined) throw new ContainerStartError(`exec: ${quoted}: ${problem}`)
    return path
  }
  if (program !== '')
    for (const element of (environment['PATH'] ?? defaultPath).split(':')) {
      const path = resolve(folder, element, program)
      if ((await problemOf(path)) === undefined) return path
    }
  throw new ContainerStartError(`exec: ${quoted}: executable file not found in $PATH`)
}

async function problemOf(path: string): Promise<string | undefined> {
  try {
    if ((await stat(path)).isDirectory()) return 'is a directory'
    await access(path, constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'permission denied' : `stat ${path}: no such file or directory`
  }
}
