/** Reads the lines that a script reports. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Calls `onLine` with each line. Resolves when the stream has ended or failed. Never rejects. */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: stream })
    lines.on('line', onLine)
    lines.on('close', () => resolve())
    // A process that ends with unread input resets the connection. Without this handler, `lines` would then stay open.
    lines.on('error', () => lines.close())
  })
}
