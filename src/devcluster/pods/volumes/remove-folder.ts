/** `removeFolder`: removes a folder of a container, even if the paths of its files are very long. */
import { runProgram } from '../namespaces/programs.ts'

/**
 * Removes a folder, if it exists. The command rm(1) is used, because Node.js cannot remove paths that are longer than the limit of the
 * system.
 *
 * @param prefix the words before `rm` in a command that runs rm(1) with other permissions. Default: none, so rm(1) has the permissions of
 *   this process.
 * @throws {ProgramError} with the message of rm(1) when a file cannot be removed.
 */
export async function removeFolder(path: string, prefix: readonly string[] = []): Promise<void> {
  await runProgram([...prefix, 'rm', '-rf', '--', path])
}
