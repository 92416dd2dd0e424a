/** `readText`: reads the body of a response as text, and rejects or truncates a body as soon as the body exceeds the limit. */
import { constants } from 'node:buffer'
import type { Readable } from 'node:stream'

/**
 * Maximum size of a body in bytes: about 512 MiB, the maximum length of a string in Node.js. A longer body does not fit into one string,
 * and cannot be parsed. The cache requests pages of 500 objects. A page reaches this limit only if its objects have about 1 MiB on average.
 */
export const maxTextBytes = constants.MAX_STRING_LENGTH

/**
 * Returns the body as text. The limit of the body is the smaller of `maxBytes` and `maxTextBytes`. When the body exceeds the limit, the
 * connection is closed, and the rest of the body is not read:
 *
 * - With `tooLong`, the promise rejects with `tooLong()`.
 * - Without `tooLong`, the promise resolves to the beginning of the body.
 *
 * The function does not call methods of undici's bodies such as `body.text()`. The bodies of undici refer to each other, and to the texts
 * that these methods return. The texts of all pages of a list would therefore remain in memory until the next full garbage collection.
 */
export async function readText(body: Readable, maxBytes: number, tooLong?: () => Error): Promise<string> {
  const limit = Math.min(maxBytes, maxTextBytes)
  let chunks: Buffer[] = []
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    // The listener remains after the promise has settled, because an `error` event without a listener would end the process.
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
