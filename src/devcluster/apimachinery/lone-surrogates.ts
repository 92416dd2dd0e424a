/**
 * Lone surrogates: halves of pairs in UTF-16, which no text in UTF-8 can contain. JSON can contain their escapes, such as `\ud800`.
 */

const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g

/**
 * Replaces escapes of lone surrogates in JSON by the escape of U+FFFD, as Go's decoder does (encoding/json: unquote). Otherwise two names
 * that differ would be the same key in the database, whose texts are in UTF-8.
 */
export function replaceLoneSurrogates(json: string): string {
  if (!hasSurrogateEscape(json)) return json
  return json.replace(escapes, (escape, lone?: string) => (lone === undefined ? escape : '\\ufffd'))
}

/** Returns true for a text with an escape such as `\ud800`, be it lone or in a pair. The backslash may itself be escaped. */
export function hasSurrogateEscape(text: string): boolean {
  return text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)
}
