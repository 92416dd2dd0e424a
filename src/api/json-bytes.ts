/** Scans JSON without parsing it, because parsed values take ten times the memory of the JSON bytes. */

export const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
export const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The bytes that the scan must inspect: the quote that begins a string, commas, and the brackets of objects and arrays. */
const isMark = new Uint8Array(256)
for (const mark of [quote, comma, openBrace, closeBrace, openBracket, closeBracket]) isMark[mark] = 1

/** The result of scanning one value. */
export interface ScannedValue {
  /** The position after the value. It is beyond the scanned bytes when a string does not end within them. */
  readonly end: number
  /**
   * Number of fields and items at all levels: each opening bracket and each comma counts as one, because a field or item usually follows
   * it.
   */
  readonly values: number
  /** Number of levels of nesting. */
  readonly levels: number
  /** True when all objects and arrays of the value are complete. */
  readonly closed: boolean
}

/**
 * Scans the value that begins at `start`, up to the position `limit`, and counts its fields, items and levels of nesting. The scan stops
 * early when a count exceeds its maximum in `most`. It does not detect syntax errors.
 */
export function scanValue(
  bytes: Uint8Array,
  start: number,
  limit: number,
  most: { readonly values: number; readonly levels: number } = { values: Infinity, levels: Infinity },
): ScannedValue {
  let at = start
  let [depth, levels, values] = [0, 0, 0]
  while (at < limit) {
    const byte = bytes[at]!
    if (isMark[byte] === 0) {
      at += 1
      continue
    }
    if (byte === quote) {
      at = endOfString(bytes, at, limit)
    } else if (byte === openBrace || byte === openBracket) {
      values += 1
      depth += 1
      if (depth > levels) levels = depth
      at += 1
    } else if (byte === comma) {
      if (depth === 0) break
      values += 1
      at += 1
    } else {
      // This bracket ends the object or array that contains the scanned value, so the value ends before it.
      if (depth === 0) break
      depth -= 1
      at += 1
    }
    if (depth === 0 || values > most.values || levels > most.levels) break
  }
  return { end: at, values, levels, closed: depth === 0 }
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
