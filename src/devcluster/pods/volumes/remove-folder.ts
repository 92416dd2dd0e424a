/** `removeFolder`: removes a folder of a container, whose paths may be of any length. */
import { runProgram } from '../namespaces/programs.ts'

/**
 * Removes a folder, if it exists. Node.js cannot remove paths that are longer than the limit of the system, and rm(1) can.
 *
 * @param prefix the words before a command that runs it with other rights. Default: none; the rights of this process.
 * @throws {ProgramError} with the words of rm(1) when a file cannot be removed.
 */
export async function removeFolder(path: string, prefix: readonly string[] = []): Promise<void> {
  await runProgram([...prefix, 'rm', '-rf', '--', path])
}
