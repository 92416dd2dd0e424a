/** `ContinueTokens`: returns the continue token of each page of a list, and rejects a list that has no end. */
import { ProreusError } from '../api/errors.ts'
import type { ObjectList } from '../api/object.ts'
import { formatKey } from '../api/object.ts'

/**
 * Maximum number of consecutive pages without an object. An empty page with a continue token is rare, because the API server fills each
 * page up to its limit as long as objects are left.
 */
const maxEmptyPages = 100

export class ContinueTokens {
  readonly #seen = new Set<string>()
  /** The key of the first object of each page. */
  readonly #firsts = new Set<string>()
  #emptyPages = 0

  /**
   * Returns the token of the page after `page`; undefined when `page` is the last one.
   *
   * @throws {ProreusError} `PRO_API` when the list has no end: an earlier page had the same token or began with the same
   * object, or too many pages were empty.
   */
  next({ items, metadata }: ObjectList): string | undefined {
    const token = metadata.continue
    if (!token) return undefined
    this.#emptyPages = items.length === 0 ? this.#emptyPages + 1 : 0
    if (this.#seen.has(token)) throw endless('two of its pages have the same continue token')
    if (this.#emptyPages > maxEmptyPages) throw endless(`more than ${maxEmptyPages} consecutive pages are empty`)
    this.#seen.add(token)
    if (items[0] === undefined) return token
    const first = formatKey(items[0].metadata)
    if (this.#firsts.has(first)) throw endless('two of its pages begin with the same object')
    this.#firsts.add(first)
    return token
  }
}

function endless(reason: string): ProreusError {
  return new ProreusError('PRO_API', `The API server sends a list that has no end: ${reason}.`)
}
