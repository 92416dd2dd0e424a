/** `PageSize`: the number of objects in one page of a list, so that no page blocks the event loop for long. */
import type { ListOptions } from '../client/options.ts'

/** Maximum number of objects in a page, as in kubectl and client-go. */
const maxObjects = 500
/**
 * Maximum size of a page in bytes. Parsing such a page takes 5 to 10 ms, during which no webhook is answered. 500 objects of 2 KiB are less
 * than that.
 */
const maxPageBytes = 1024 * 1024

/**
 * The first page has up to 500 objects. The size of the objects is not known in advance: when the response is larger than 1 MiB, the client
 * stops reading it, and the next pages have half as many objects. After each page within the limit, the next one may have 5 % more objects,
 * because large objects are often neighbours in a list.
 */
export class PageSize {
  #objects = maxObjects

  /** The limits of the next page. A page of a single object has no size limit, because it cannot have fewer objects. */
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
