/** Reads the lines that a script writes to a stream. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Calls `onLine` with each line. Resolves when the stream has ended or failed. Never rejects. */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stream })
    lines.on('line', onLine)
    lines.on('close', () => resolve())
    // If a process ends before it has read all its input, Linux resets the socket, and the stream fails. Without this handler, `lines`
    // would stay open.
    lines.on('error', () => lines.close())
  })
}
