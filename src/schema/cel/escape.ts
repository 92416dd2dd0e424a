/** Field names that are no identifiers of CEL, such as `a-b` and `namespace`, as expressions write them. */

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const sequences: readonly (readonly [string, string])[] = [
  ['__', 'underscores'],
  ['.', 'dot'],
  ['-', 'dash'],
  ['/', 'slash'],
]
const escapeNames = new Map(sequences)
const unescapeNames = new Map(sequences.map(([text, name]) => [name, text]))

export function isReserved(name: string): boolean {
  return reserved.has(name)
}

/** `a__dash__b`; undefined when no expression can write the name. */
export function escapeIdentifier(name: string): string | undefined {
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[.\-/]/g, (text) => `__${escapeNames.get(text)}__`)
}

/** The field's name; undefined when the escapes are none. */
export function unescapeIdentifier(escaped: string): string | undefined {
  let valid = true
  const name = escaped.replace(/__([^_]+)__/g, (whole, content: string) => {
    const text = unescapeNames.get(content)
    if (text !== undefined) return text
    if (!reserved.has(content) || whole.length !== escaped.length) valid = false
    return content
  })
  return valid ? name : undefined
}
