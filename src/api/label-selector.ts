/** Label selectors: the text that kubectl's `-l` takes, the object that specs carry, and matching. */

export type Labels = Readonly<Record<string, string>>

export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values: readonly string[]
}

/** `meta/v1 LabelSelector`. Empty selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { key: string; operator: LabelRequirement['operator']; values?: readonly string[] }[]
}

export function requirementsOf(selector: LabelSelector): LabelRequirement[] {
  return [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({ key, operator: 'In', values: [value] })),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values = [] }): LabelRequirement => ({ key, operator, values })),
  ]
}

export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels = {}): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value)
      case 'NotIn':
        return value === undefined || !values.includes(value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
    }
  })
}

/** The text form, for a `labelSelector` query parameter. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key
      if (operator === 'DoesNotExist') return `!${key}`
      if (values.length === 1) return `${key}${operator === 'In' ? '=' : '!='}${values[0]}`
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
    })
    .join(',')
}

/** Parses `a=b,c!=d,e in (f,g),h,!i`. Throws `SyntaxError` in the API server's words. */
export function parseLabelSelector(text: string): LabelRequirement[] {
  const tokens = text.match(/[!=,()]|==|!=|[^\s!=,()]+/g) ?? []
  const requirements: LabelRequirement[] = []
  let at = 0
  const fail = (found: string | undefined, expected: string): never => {
    throw new SyntaxError(`unable to parse requirement: found '${found ?? ''}', expected: ${expected}`)
  }
  const identifier = (expected: string): string => {
    const token = tokens[at]
    if (token === undefined || /^[!=,()]/.test(token)) return fail(token, expected)
    at += 1
    return token
  }
  while (at < tokens.length) {
    if (tokens[at] === '!') {
      at += 1
      requirements.push({ key: identifier('identifier'), operator: 'DoesNotExist', values: [] })
    } else {
      const key = identifier("!, identifier, or 'end of string'")
      requirements.push(parseRest(key))
    }
    if (at < tokens.length) {
      if (tokens[at] !== ',') fail(tokens[at], "',' or 'end of string'")
      at += 1
      if (at === tokens.length) fail('', "identifier after ','")
    }
  }
  return requirements

  function parseRest(key: string): LabelRequirement {
    const token = tokens[at]
    if (token === undefined || token === ',') return { key, operator: 'Exists', values: [] }
    at += 1
    if (token === '=') {
      if (tokens[at] === '=') at += 1
      return { key, operator: 'In', values: [optionalValue()] }
    }
    if (token === '!' && tokens[at] === '=') {
      at += 1
      return { key, operator: 'NotIn', values: [optionalValue()] }
    }
    if (token === 'in' || token === 'notin') {
      if (tokens[at] !== '(') fail(tokens[at], "'('")
      at += 1
      const values = [identifier("',', ')' or identifier")]
      while (tokens[at] === ',') {
        at += 1
        values.push(identifier("',', ')' or identifier"))
      }
      if (tokens[at] !== ')') fail(tokens[at], "',', ')' or identifier")
      at += 1
      return { key, operator: token === 'in' ? 'In' : 'NotIn', values }
    }
    return fail(token, 'in, notin, =, ==, !=, gt, lt')
  }
  function optionalValue(): string {
    const token = tokens[at]
    if (token === undefined || token === ',') return ''
    return identifier('identifier')
  }
}
