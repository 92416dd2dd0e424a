/** `readText`: reads the body of a response as text, and refuses or truncates a body that is too long while it arrives. */
import { constants } from 'node:buffer'
import type { Readable } from 'node:stream'

/**
 * Maximum size of a body in bytes: about 512 MiB. A longer one may not fit into a string of Node.js, so no response that could be parsed is
 * refused. A page of the cache has 500 objects, and one of this size would have objects of 1 MiB on average.
 */
export const maxTextBytes = constants.MAX_STRING_LENGTH

/**
 * Returns the body as text. When it has more than `maxBytes` bytes, the connection is closed, and nothing more of the body is kept in memory:
 * the promise then rejects with `tooLong()`, or, without `tooLong`, resolves to the beginning of the body. `maxTextBytes` limits `maxBytes`.
 *
 * The bodies of undici refer to each other, and to the results of their methods such as `body.text()`, until the next full garbage
 * collection. The texts of all pages of a list would remain in memory until then, so no body refers to its text here.
 */
export async function readText(body: Readable, maxBytes: number, tooLong?: () => Error): Promise<string> {
  const limit = Math.min(maxBytes, maxTextBytes)
  let chunks: Buffer[] = []
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    // After the promise has settled, the listener remains, because without one an error would end the process.
    body.on('error', reject)
    body.on('end', resolve)
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes <= limit) return
      if (tooLong === undefined) resolve()
      else reject(tooLong())
      body.destroy()
    })
  })
  const text = Buffer.concat(chunks, Math.min(bytes, limit)).toString('utf8')
  chunks = []
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
