/** `PageSize`: limits the number of objects in one page of a list, so that no page blocks the event loop for long. */
import type { ListOptions } from '../client/options.ts'

/** Maximum number of objects in a page, as in kubectl and client-go. */
const maxObjects = 500
/**
 * Maximum size of a page in bytes. Parsing a page of this size blocks the event loop for 5 to 10 ms. 500 objects of 2 KiB fit in such a
 * page.
 */
const maxPageBytes = 1024 * 1024

/**
 * The number of objects in a page, initially 500. The number adapts to the size of the objects, which is not known in advance:
 *
 * - If a response is larger than 1 MiB, the client stops reading the response, and the reflector requests the page again with half as many
 *   objects.
 * - After each page within the limit, the number increases by 5 %, up to 500. The increase is small, because large objects often follow
 *   each other in a list.
 */
export class PageSize {
  #objects = maxObjects

  /** The limits of the next page. A page of a single object has no size limit, because a page with fewer objects is impossible. */
  get limits(): Pick<ListOptions, 'limit' | 'maxResponseBytes'> {
    return { limit: this.#objects, ...(this.#objects > 1 && { maxResponseBytes: maxPageBytes }) }
  }

  shrink(): void {
    this.#objects = Math.ceil(this.#objects / 2)
  }

  grow(): void {
    this.#objects = Math.min(maxObjects, Math.ceil(this.#objects * 1.05))
  }
}
