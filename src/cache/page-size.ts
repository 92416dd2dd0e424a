/** `PageSize`: the number of objects in one page of a list, so that no page blocks the event loop for long. */
import type { ListOptions } from '../client/options.ts'

/** Maximum number of objects in a page, as in kubectl and client-go. */
const maxObjects = 500
/**
 * Maximum size of a page in bytes. Parsing it takes 5 to 10 ms, during which no webhook is answered. A page of 500 objects of 2 KiB is
 * smaller.
 */
const maxPageBytes = 1024 * 1024

/**
 * Starts with pages of 500 objects. The size of the objects is unknown: when a page has more than 1 MiB, it is refused while it arrives, and
 * the next ones have half as many objects. Each page that is not refused lets the next one be 5 % larger, because large objects are often
 * neighbours in a list.
 */
export class PageSize {
  #objects = maxObjects

  /** The limits of the next page. A single object may have any size. */
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
