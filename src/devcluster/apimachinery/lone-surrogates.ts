/**
 * Replaces lone surrogates in JSON. A lone surrogate is one half of a pair in UTF-16. Text in UTF-8 cannot contain it, but JSON can contain
 * its escape, such as `\ud800`.
 */

const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g

/**
 * Replaces each escape of a lone surrogate in JSON by the escape of U+FFFD, as Go's decoder does (encoding/json: unquote). Without the
 * replacement, two names that differ only in lone surrogates could become the same key in the database, because the database stores text in
 * UTF-8.
 */
export function replaceLoneSurrogates(json: string): string {
  if (!hasSurrogateEscape(json)) return json
  return json.replace(escapes, (escape, lone?: string) => (lone === undefined ? escape : '\\ufffd'))
}

/**
 * Returns true when a text contains the escape of a surrogate, such as `\ud800`. The surrogate can be lone or part of a pair. The result is
 * also true when the backslash itself is escaped.
 */
export function hasSurrogateEscape(text: string): boolean {
  return text.includes('\\u') && /\\u[dD][89a-fA-F]/.test(text)
}
