/** `SharedStrings`: freezes JSON values. Most strings that occur in several of these values are kept in memory only once. */
import { LoopTurns } from '../runtime/time-slices.ts'

/**
 * Number of remembered strings. This number is far higher than the number of strings that the objects of one owner have in common. In a
 * list that is sorted by name, the objects of one owner follow each other. Most of their common strings are therefore still remembered when
 * the next object needs them.
 */
const slotCount = 4096

/**
 * Maximum length of a remembered string. Names of images and most labels and annotations are shorter. All remembered strings together take
 * at most 2 MB. They stay in memory even when the cache no longer has an object with these strings.
 */
const maxLength = 256

/**
 * Maximum length of the strings that V8's JSON parser already shares. If such a string occurs several times, V8 keeps only one copy of it
 * in memory.
 */
const maxLengthOfV8 = 10

/** Maximum number of objects and arrays that are frozen in one iteration of the event loop. Freezing them takes one or two milliseconds. */
const maxAtOnce = 5_000

/**
 * Remembers some of the latest strings, so that equal strings are kept in memory only once. Most strings of an object also occur in many
 * other objects. For example, the Pods of a ReplicaSet have the same namespace, labels and images. `JSON.parse` creates a new string for
 * each occurrence, unless the string is very short.
 */
export class SharedStrings {
  /** The hash of a string determines its index in the array. A new string replaces the string that was at this index. */
  readonly #slots = new Array<string>(slotCount).fill('')
  readonly #turns = new LoopTurns()

  /**
   * Freezes a JSON value with all objects and arrays in it, and returns the value. Replaces strings in the value by equal strings of
   * earlier values. Skips objects and arrays that are already frozen, with all their content.
   *
   * The call freezes at most 5,000 objects and arrays. The others are frozen in later iterations of the event loop, so that a large value
   * does not block the event loop. A Kubernetes object of the maximum size (about 1.5 MiB) can contain 500,000 objects and arrays.
   */
  freeze<T>(value: T): T {
    const waiting: unknown[] = [value]
    this.#freezeSome(waiting)
    if (waiting.length > 0) void this.#freezeLater(waiting)
    return value
  }

  async #freezeLater(waiting: unknown[]): Promise<void> {
    while (waiting.length > 0) {
      await this.#turns.next()
      this.#freezeSome(waiting)
    }
  }

  /** Removes up to `maxAtOnce` values from `waiting`, and freezes them. The objects and arrays that they contain are added to `waiting`. */
  #freezeSome(waiting: unknown[]): void {
    // The values are processed in a loop. If an object had thousands of levels, a recursive function would overflow the stack.
    for (let count = 0; count < maxAtOnce && waiting.length > 0; count += 1) {
      const each = waiting.pop()
      if (Object.isFrozen(each)) continue
      const fields = each as Record<string, unknown>
      for (const key of Object.keys(fields)) {
        const field = fields[key]
        if (typeof field === 'object' && field !== null) waiting.push(field)
        // `#shared` returns an equal string, so the content of the field does not change.
        else if (typeof field === 'string' && field.length > maxLengthOfV8 && field.length <= maxLength) fields[key] = this.#shared(field)
      }
      Object.freeze(fields)
    }
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
