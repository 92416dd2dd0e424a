/** Parses the `Warning` headers of responses. The API server sends them, for example, when a client uses a deprecated API version. */

/** Matches `299 - "text"`. Backslashes escape characters of the text. */
const warning = /\b299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g

/** Returns the messages of all warnings with code 299, the only code that the API server uses. */
export function parseWarnings(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return []
  const text = typeof header === 'string' ? header : header.join(', ')
  return [...text.matchAll(warning)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'))
}
