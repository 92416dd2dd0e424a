/** `Warning` headers: messages of the API server about requests that succeeded. */

/** `299 - "text"`, the text with backslash escapes. */
const warning = /\b299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g

/** Returns the messages of all warnings with the code 299, the only code that the API server uses. */
export function parseWarnings(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return []
  const text = typeof header === 'string' ? header : header.join(', ')
  return [...text.matchAll(warning)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'))
}
