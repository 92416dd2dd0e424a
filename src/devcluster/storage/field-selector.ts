/** Field selectors: `metadata.name=a,status.phase!=Running`. */

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/**
 * Parses a `fieldSelector` parameter (k8s.io/apimachinery/pkg/fields: ParseSelector). Sorts the terms of the selector, and returns one
 * requirement for each term. Throws `SyntaxError` with kube-apiserver's message.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .sort()
    .map((term) => {
      const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
      if (match === null) throw new SyntaxError(`invalid selector: '${text}'; can't understand '${term}'`)
      const [, field = '', operator = '', value = ''] = match
      return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) }
    })
}

/**
 * Returns the value of the first requirement `FIELD=VALUE` for the field; undefined if the field has no such requirement
 * (k8s.io/apimachinery/pkg/fields: Selector.RequiresExactMatch).
 */
export function exactValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value
}

export function matchesFields(requirements: readonly FieldRequirement[], fields: Readonly<Record<string, string>>): boolean {
  return requirements.every(({ field, operator, value }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : ''
    return operator === '=' ? actual === value : actual !== value
  })
}

/**
 * Unescapes the value in a field selector (k8s.io/apimachinery/pkg/fields: UnescapeValue). Backslashes, commas and equals signs in such a
 * value must be escaped with a backslash.
 */
function unescapeValue(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) throw new SyntaxError(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`)
    if (escaped === '' || !'\\,='.includes(escaped)) throw new SyntaxError(`invalid field selector: invalid escape sequence: ${found}`)
    return escaped
  })
}

/** Splits a field selector at the commas that are not escaped with a backslash. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let term = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!
    if (character === '\\') {
      term += character + (text[index + 1] ?? '')
      index += 1
    } else if (character === ',') {
      terms.push(term)
      term = ''
    } else {
      term += character
    }
  }
  return [...terms, term]
}
