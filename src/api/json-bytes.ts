/** Scans JSON without parsing it, because parsed values take ten times the memory of the JSON bytes. */

export const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
export const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The bytes that the scan must inspect: the quote that begins a string, commas, and the brackets of objects and arrays. */
const isMark = new Uint8Array(256)
for (const mark of [quote, comma, openBrace, closeBrace, openBracket, closeBracket]) isMark[mark] = 1

/**
 * The default of the limits `mostValues` and `mostLevels`. No scanned text exceeds this default. The default is a small integer of V8,
 * because comparisons with a small integer are faster than comparisons with `Infinity`.
 */
const maxCount = 2 ** 30 - 1

/**
 * Scans one value, and counts its fields, items and levels of nesting. The properties describe the value that was scanned last. `scan`
 * creates no result object, because it is called for each object of a ConversionReview, and a review may contain millions of objects.
 */
export class ValueScan {
  /**
   * The position after the value, or the position where the scan stopped early. The position is greater than `limit` when a string has no
   * closing quote before `limit`.
   */
  end = 0
  /**
   * Number of fields and items at all levels. Each opening bracket and each comma counts as one, because a field or an item usually
   * follows. An empty object or array therefore also counts as one.
   */
  values = 0
  /** Number of levels of nesting. */
  levels = 0
  /** True when all objects and arrays of the value are complete. */
  closed = true

  /**
   * Scans the value that begins at `start`, up to the position `limit`. The scan stops early when there are more than `mostValues` fields
   * and items, or more than `mostLevels` levels. The scan does not detect syntax errors.
   */
  scan(bytes: Uint8Array, start: number, limit: number, mostValues = maxCount, mostLevels = maxCount): this {
    let at = start
    let [depth, levels, values] = [0, 0, 0]
    while (at < limit) {
      const byte = bytes[at]!
      if (isMark[byte] === 0) {
        at += 1
        continue
      }
      if (byte === comma) {
        if (depth === 0) break
        at += 1
        values += 1
        if (values > mostValues) break
      } else if (byte === quote) {
        at = endOfString(bytes, at, limit)
        if (depth === 0) break
      } else if (byte === openBrace || byte === openBracket) {
        at += 1
        values += 1
        depth += 1
        if (depth > levels) levels = depth
        if (values > mostValues || levels > mostLevels) break
      } else {
        // This closing bracket belongs to the object or array that contains the scanned value. The scanned value ends before the bracket.
        if (depth === 0) break
        at += 1
        depth -= 1
        if (depth === 0) break
      }
    }
    this.end = at
    this.values = values
    this.levels = levels
    this.closed = depth === 0
    return this
  }
}

/**
 * Returns the position after the closing quote of the string that begins at `at`. When there is no closing quote before `limit`, the result
 * is greater than `limit`.
 */
function endOfString(bytes: Uint8Array, at: number, limit: number): number {
  let end = at + 1
  while (end < limit) {
    const byte = bytes[end]!
    if (byte === quote) return end + 1
    end += byte === backslash ? 2 : 1
  }
  return limit + 1
}
