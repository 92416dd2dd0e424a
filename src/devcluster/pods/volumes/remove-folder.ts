/** `removeFolder`: removes a folder of a container. The paths of files in the folder may be of any length. */
import { runProgram } from '../namespaces/programs.ts'

/**
 * Removes a folder, if it exists. Node.js cannot remove paths that are longer than the limit of the system, but rm(1) can.
 *
 * @param prefix the words that precede a command so that the command has other rights. Default: none. The command then has the rights of
 *   this process.
 * @throws {ProgramError} with the words of rm(1) when a file cannot be removed.
 */
export async function removeFolder(path: string, prefix: readonly string[] = []): Promise<void> {
  await runProgram([...prefix, 'rm', '-rf', '--', path])
}
