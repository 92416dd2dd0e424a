/** Assigns numbers to the items of lists. Equal items have equal numbers, so comparing two items takes constant time. */
import type { JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'

/**
 * Assigns numbers to items. Two items have the same number if `jsonEqual` returns true for them, and different numbers otherwise. Each item
 * is visited only once, even if it is nested in items of other lists, so assigning all numbers takes linear time.
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
   * Returns the same string only for equal values. The string delimits each key and value, and contains numbers in place of nested lists
   * and objects.
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
