/** `tailPosition`: the position in the files of a log at which its last lines begin. */
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import type { ContainerLog, LogState } from './container-log.ts'

/** A position in the files of a log. */
export interface LogPosition {
  readonly file: number
  /** The offset in the file, in bytes. */
  readonly offset: number
}

const blockBytes = 64 * 1024
const newline = 0x0a

/**
 * Opens a file of a log for reading. Resolves with undefined if the file does not exist. In this case, nothing has been written to the file
 * yet, or the file was removed as the oldest file of the log.
 */
export async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Resolves with the current end of a log. */
export async function endPosition(log: ContainerLog): Promise<LogPosition> {
  const { last, size } = log.state
  return { file: last, offset: size ?? (await sizeOf(log, last)) }
}

/**
 * Resolves with the position at which the last `lines` log entries before `end` begin (k8s.io/cri-client/pkg/logs: findTailLineStartIndex).
 * If the log has fewer entries, the position is the beginning of the oldest file. A long line of output consists of several log entries.
 * Unlike the kubelet, this function also searches the older files of the log.
 */
export async function tailPosition(log: ContainerLog, lines: number, end: LogPosition): Promise<LogPosition> {
  if (lines <= 0) return end
  // The search ends at the line break before the first wanted entry. The number of line breaks to find is therefore `lines + 1`.
  let missing = lines + 1
  const { first }: LogState = log.state
  for (let file = end.file; file >= first; file -= 1) {
    const handle = await openIfExists(log.path(file))
    if (handle === undefined) {
      // If the newest file does not exist, nothing has been written to it yet. If an older file does not exist, it was removed.
      if (file === end.file) continue
      return { file: file + 1, offset: 0 }
    }
    try {
      const size = file === end.file ? end.offset : (await handle.stat()).size
      const found = await findBackwards(handle, size, missing)
      if (found.offset !== undefined) return { file, offset: found.offset }
      missing -= found.count
    } finally {
      await handle.close()
    }
  }
  return { file: first, offset: 0 }
}

/**
 * Searches for line breaks in the first `size` bytes of a file, from the last of these bytes to the first. The search stops after `wanted`
 * line breaks. `count` is the number of line breaks found. `offset` is the position after the line break that was found last; absent if
 * `count` is less than `wanted`.
 */
async function findBackwards(
  handle: FileHandle,
  size: number,
  wanted: number,
): Promise<{ readonly offset?: number; readonly count: number }> {
  const block = Buffer.alloc(Math.min(blockBytes, size))
  let count = 0
  for (let until = size; until > 0; until -= blockBytes) {
    const from = Math.max(0, until - blockBytes)
    const { bytesRead } = await handle.read(block, 0, until - from, from)
    for (let at = bytesRead; at > 0;) {
      at = block.subarray(0, at).lastIndexOf(newline)
      if (at === -1) break
      count += 1
      if (count === wanted) return { offset: from + at + 1, count }
    }
  }
  return { count }
}

async function sizeOf(log: ContainerLog, file: number): Promise<number> {
  const handle = await openIfExists(log.path(file))
  if (handle === undefined) return 0
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
