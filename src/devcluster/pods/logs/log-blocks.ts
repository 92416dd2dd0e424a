/** `logBlocks`: reads the bytes of all files of a log, even while the log is being written. */
import type { FileHandle } from 'node:fs/promises'
import type { ContainerLog } from './container-log.ts'
import type { LogPosition } from './log-position.ts'
import { openIfExists } from './log-position.ts'

const blockBytes = 64 * 1024

export interface BlockOptions {
  readonly start: LogPosition
  /**
   * The position at which the generator ends. If `end` is absent, the generator ends when the run has ended and all output of the run has
   * been read.
   */
  readonly end?: LogPosition
  readonly signal: AbortSignal
}

/**
 * Yields the bytes of a log, at most 64 KiB at a time. If the container writes faster than the client reads, a file can be removed before
 * it has been read. Such a file is skipped. The generator also ends when the signal aborts.
 */
export async function* logBlocks(log: ContainerLog, { start, end, signal }: BlockOptions): AsyncGenerator<Buffer> {
  let { file, offset } = start
  let handle: FileHandle | undefined
  try {
    while (!signal.aborted) {
      // The state of the log is read before the bytes of the current file. If the state contains a later file, the current file is already
      // complete. The loop then reads the current file to its end and continues with the next file.
      const { first, last, isEnded, version } = log.state
      if (file < first && handle === undefined) [file, offset] = [first, 0]
      if (end !== undefined && (file > end.file || (file === end.file && offset >= end.offset))) return
      handle ??= await openIfExists(log.path(file))
      const length = end?.file === file ? Math.min(end.offset - offset, blockBytes) : blockBytes
      const block = handle === undefined ? undefined : await readBlock(handle, offset, length)
      if (block !== undefined && block.length > 0) {
        offset += block.length
        yield block
        continue
      }
      if (end?.file === file) return
      if (file < last) {
        await handle?.close()
        handle = undefined
        ;[file, offset] = [file + 1, 0]
      } else if (isEnded) return
      else await log.changedSince(version, signal)
    }
  } finally {
    await handle?.close()
  }
}

async function readBlock(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}
