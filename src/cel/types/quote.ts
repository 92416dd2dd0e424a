/** Quotes a string with CEL's escape sequences, for the function `strings.quote`. */

const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

export function quoteText(text: string): string {
  let quoted = '"'
  for (const character of text) quoted += escapes[character] ?? character
  return `${quoted}"`
}
