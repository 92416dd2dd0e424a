/** `readRegularFile` reads a small file that another program or user may have created. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Maximum size in bytes of a file. The limit is greater than the /etc/passwd of a large organization, which has several hundred kilobytes. */
const maxBytes = 1024 * 1024

/**
 * Resolves with the text of the file.
 *
 * @throws {Error} when the file is missing, cannot be read, is larger than 1 MiB or is not a regular file. A named pipe would block a
 *   thread of Node.js forever, and the content of a device may have no end.
 */
export async function readRegularFile(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error('not a regular file')
    if (stats.size > maxBytes) throw new Error(`larger than ${maxBytes} bytes`)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
