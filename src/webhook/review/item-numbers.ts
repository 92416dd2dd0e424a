/** Assigns numbers to the items of lists. Equal items have equal numbers, so comparing two items takes constant time. */
import type { JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'

/**
 * Assigns numbers to the items of lists. Two items have the same number if `jsonEqual` returns true for them, and different numbers
 * otherwise. The items of nested lists also get numbers. The number of each item is computed once and then stored, so assigning all numbers
 * takes linear time.
 */
export class ItemNumbers {
  readonly #ofItems = new Map<JsonValue, number>()
  readonly #ofTexts = new Map<string, number>()

  of(item: JsonValue): number {
    let number = this.#ofItems.get(item)
    if (number !== undefined) return number
    const text = this.#textOf(item)
    number = this.#ofTexts.get(text) ?? this.#ofTexts.size
    this.#ofTexts.set(text, number)
    this.#ofItems.set(item, number)
    return number
  }

  /**
   * Returns a string that identifies the value: two values have the same string only if the values are equal. In the string, each nested
   * list or object is replaced by the number that `of` returns for this list or object. The length of each key or string precedes the key
   * or string, so that strings of different values always differ.
   */
  #textOf(value: JsonValue): string {
    if (Array.isArray(value)) {
      let text = '['
      for (const item of value) text += `${this.#partOf(item)},`
      return text
    }
    if (!isObject(value)) return this.#partOf(value)
    const keys = Object.keys(value)
    if (keys.length > 1) keys.sort()
    let text = '{'
    for (const key of keys) {
      const field = value[key]
      if (field !== undefined) text += `${key.length}:${key}${this.#partOf(field)},`
    }
    return text
  }

  #partOf(value: JsonValue): string {
    if (typeof value === 'string') return `"${value.length}:${value}`
    return typeof value === 'object' && value !== null ? `#${this.of(value)}` : String(value)
  }
}
