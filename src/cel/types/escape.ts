/** Escapes field names that are not valid CEL identifiers, such as `a-b` and `namespace` (`k8s.io/apiserver/pkg/cel: escaping.go`). */

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

/** Returns the escaped name, such as `a__dash__b` for `a-b`; undefined when the name cannot be escaped. */
export function escapeIdentifier(name: string): string | undefined {
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[.\-/]/g, (text) => `__${escapeNames.get(text)}__`)
}

/** Returns the field name of an escaped name; undefined when an escape sequence is invalid. */
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
