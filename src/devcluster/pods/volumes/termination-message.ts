/** `terminationMessage`: the message of an ended container (k8s.io/kubernetes/pkg/kubelet/kuberuntime: getTerminationMessage). */
import { constants, open } from 'node:fs/promises'
import { messageOf } from './combined-error.ts'
import { codeOf } from './file-system.ts'

export interface TerminationOptions {
  /** The path of the message file on this machine (`ContainerFiles.terminationFile`). */
  readonly file: string
  /** The `terminationMessagePolicy` of the container. Default: `File`. */
  readonly policy?: string | undefined
  readonly exitCode: number
  /** Resolves with the end of the log: at most `terminationLogLines` lines and `terminationLogBytes` bytes. */
  readonly lastLines: () => Promise<string>
}

/** The limits of a message, in bytes or lines (k8s.io/kubernetes/pkg/kubelet/container: MaxContainerTerminationMessageLength etc.). */
const maxBytes = 4096
export const terminationLogLines = 80
export const terminationLogBytes = 2048

/**
 * Resolves with the end of the file. Resolves with the end of the log instead if all of these conditions are true: the file is empty or
 * missing, the exit code is not 0, and the policy is `FallbackToLogsOnError`. Never rejects: the text of an error becomes the message, as
 * in the kubelet.
 */
export async function terminationMessage({ file, policy, exitCode, lastLines }: TerminationOptions): Promise<string> {
  let message: string
  try {
    message = await endOfFile(file)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return `Error on reading termination log ${file}: ${messageOf(error)}`
    message = ''
  }
  if (message !== '' || policy !== 'FallbackToLogsOnError' || exitCode === 0) return message
  try {
    return await lastLines()
  } catch (error) {
    return `Error on reading termination message from logs: ${messageOf(error)}`
  }
}

/**
 * Resolves with the last 4096 bytes of a file. Rejects if `path` is not a regular file. The container can replace the file with a symbolic
 * link to another file, or with a FIFO, which would block the reader.
 */
async function endOfFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error('not a regular file')
    const length = Math.min(stats.size, maxBytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, stats.size - length)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
