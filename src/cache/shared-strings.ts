/** `SharedStrings`: freezes JSON values, and keeps equal strings of different values in memory only once. */

/** Number of remembered strings: far more than the objects of one owner have in common, which follow each other in a list sorted by name. */
const slotCount = 4096

/**
 * Maximum length of a remembered string: names of images and most labels and annotations are shorter. All remembered strings together take
 * at most 2 MB, which bounds the memory of strings whose objects are no longer in the cache.
 */
const maxLength = 256

/** V8 itself keeps strings of at most this length only once when it parses JSON. */
const maxLengthOfV8 = 10

/**
 * Remembers some of the latest strings. Most strings of an object occur in many other objects, too, e.g. in the namespace, the labels and
 * the containers of the Pods of a ReplicaSet. `JSON.parse` creates each of them again.
 */
export class SharedStrings {
  /** A string is at the position that follows from its hash, where it replaces another one. */
  readonly #slots = new Array<string>(slotCount).fill('')

  /**
   * Freezes a JSON value and all values in it, and replaces its strings by equal ones of earlier values. A frozen object or array in it is
   * assumed to be frozen completely, and remains unchanged.
   */
  freeze<T>(value: T): T {
    // It is a loop, because a call for each level would overflow the stack for an object with some thousand levels.
    const waiting: unknown[] = [value]
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      if (Object.isFrozen(each)) continue
      const fields = each as Record<string, unknown>
      for (const key of Object.keys(fields)) {
        const field = fields[key]
        if (typeof field === 'object' && field !== null) waiting.push(field)
        // The assignment is not visible, because both strings are equal.
        else if (typeof field === 'string' && field.length > maxLengthOfV8 && field.length <= maxLength) fields[key] = this.#shared(field)
      }
      Object.freeze(fields)
    }
    return value
  }

  #shared(text: string): string {
    let hash = 0
    for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
    const position = (hash ^ (hash >>> 16)) & (slotCount - 1)
    const known = this.#slots[position]!
    if (known === text) return known
    this.#slots[position] = text
    return text
  }
}
