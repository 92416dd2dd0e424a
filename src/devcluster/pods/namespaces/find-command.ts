/**
 * Checks the program of a container before the container starts. If the check finds that the program cannot be executed, the start fails
 * with an error that names the program.
 */
import { posix } from 'node:path'
import { ContainerStartError } from '../driver.ts'
import type { ProgramOptions } from './program-command.ts'
import type { Resolved, RootView } from './root-view.ts'

/** The folders in which the C library searches for a program when PATH is not set (exec(3)). */
const defaultPath = '/bin:/usr/bin'

/**
 * Checks that the program of a container can be executed. If Proreus has no permission to read the folder of the program, the program is
 * not checked.
 *
 * @throws {ContainerStartError} with the message of runc (github.com/opencontainers/runc), when the program does not exist or is not
 *   executable.
 */
export async function findCommand(view: RootView, options: Omit<ProgramOptions, 'user'>): Promise<void> {
  const { command, environment, workingDirectory } = options
  const [program = ''] = command
  const quoted = JSON.stringify(program)
  if (program.includes('/')) {
    const path = posix.resolve(workingDirectory, program)
    const problem = problemOf(await view.resolve(path), path)
    if (problem !== undefined) throw new ContainerStartError(`exec: ${quoted}: ${problem}`)
    return
  }
  if (program !== '')
    for (const folder of (environment.PATH ?? defaultPath).split(':')) {
      const path = posix.resolve(workingDirectory, folder, program)
      // If a path cannot be resolved, for example because of a loop of symbolic links, the next folder is searched.
      const found = await view.resolve(path).catch(() => undefined)
      if (found !== undefined && problemOf(found, path) === undefined) return
    }
  throw new ContainerStartError(`exec: ${quoted}: executable file not found in $PATH`)
}

function problemOf({ path, existing, stats }: Resolved, wanted: string): string | undefined {
  if (existing !== path) return `stat ${wanted}: no such file or directory`
  if (stats?.isDirectory() === true) return 'is a directory'
  return stats !== undefined && (stats.mode & 0o111) === 0 ? 'permission denied' : undefined
}
