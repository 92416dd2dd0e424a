/** `base64Problem`: validates base64 as Go's package `encoding/base64` does. */

const common = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const alphabets = { standard: isDigitTable(`${common}+/`), url: isDigitTable(`${common}-_`) }

/** Returns Go's message for invalid base64; undefined for valid base64. Padding is required, and line breaks are ignored. */
export function base64Problem(text: string, alphabet: keyof typeof alphabets = 'standard'): string | undefined {
  const at = illegalByteAt(text, alphabets[alphabet])
  return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
}

/**
 * Returns a table that is true at the character codes of `digits`. A value may be one megabyte long, and a lookup in a table is faster than
 * a search in `digits`.
 */
function isDigitTable(digits: string): readonly boolean[] {
  return Array.from({ length: 128 }, (_, code) => digits.includes(String.fromCharCode(code)))
}

/** Returns the offset of the byte that Go reports as illegal; undefined for valid base64 (`encoding/base64: decodeQuantum`). */
function illegalByteAt(text: string, isDigit: readonly boolean[]): number | undefined {
  let digits = 0
  for (let at = 0; at < text.length; at += 1) {
    if (isDigit[text.charCodeAt(at)] === true) digits = (digits + 1) % 4
    else if (text[at] === '=') return illegalPaddingAt(text, at, digits)
    else if (!isLineBreak(text[at]!)) return at
  }
  // If the last group is incomplete, the offset that Go reports is the length of the text minus the number of digits in this group. Go does
  // not subtract the line breaks between these digits.
  return digits === 0 ? undefined : text.length - digits
}

/**
 * Returns undefined if the padding is valid. If the padding is invalid, returns the offset of the byte that Go reports as illegal. After
 * the padding, only line breaks are valid.
 *
 * @param start the offset of the first `=`
 * @param digits the number of base64 digits after the last complete group of four digits
 */
function illegalPaddingAt(text: string, start: number, digits: number): number | undefined {
  if (digits < 2) return start
  let at = skipLineBreaks(text, start + 1)
  if (digits === 2) {
    if (at === text.length) return at
    if (text[at] !== '=') return at - 1
    at = skipLineBreaks(text, at + 1)
  }
  return at < text.length ? at : undefined
}

function skipLineBreaks(text: string, from: number): number {
  let at = from
  while (at < text.length && isLineBreak(text[at]!)) at += 1
  return at
}

function isLineBreak(character: string): boolean {
  return character === '\n' || character === '\r'
}
