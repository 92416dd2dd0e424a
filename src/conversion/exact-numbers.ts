/**
 * Integers that JavaScript cannot hold: a 64 bit integer beyond 2^53 would come out of a conversion as another one, and be stored.
 * They are read as the number next to them, and written again by their text wherever that number comes out.
 */
import type { JsonValue } from '../api/json.ts'

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => JsonValue
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON

/** Whether a text may hold an integer beyond 2^53, which has at least 16 digits. */
export function mayHoldLargeIntegers(text: string): boolean {
  return /\d{16}/.test(text)
}

/** The large integers of one object and of all that is kept about it. */
export class ExactNumbers {
  #texts: Map<number, string> | undefined

  /** @throws {Error} when the text is no JSON, or has two large integers that JavaScript cannot tell apart. */
  parse(text: string): JsonValue {
    return parseWithSource(text, (_key, value, { source }) => {
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) this.#note(value, source ?? String(value))
      return value
    })
  }

  stringify(value: unknown): string {
    const texts = this.#texts
    if (texts === undefined) return JSON.stringify(value)
    return JSON.stringify(value, (_key, item: unknown) => {
      const text = typeof item === 'number' ? texts.get(item) : undefined
      return text === undefined ? item : rawJson(text)
    })
  }

  #note(value: number, source: string): void {
    const texts = (this.#texts ??= new Map())
    const known = texts.get(value)
    if (known !== undefined && known !== source) throw new Error(`the integers ${known} and ${source} cannot be told apart here`)
    texts.set(value, source)
  }
}
