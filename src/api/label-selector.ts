/** Functions for label selectors: parse and format the syntax of `kubectl -l`, validate selectors in objects, and match labels. */
import type { OptionCheck } from './option-checks.ts'
import { hasOptions, isAnObject, isListOf, isOneOf, isText } from './option-checks.ts'
import { ProreusError } from './errors.ts'
import { quote } from './field-error.ts'
import { labelValue, qualifiedName } from './name-syntax.ts'

export type Labels = Readonly<Record<string, string>>

export interface LabelRequirement {
  readonly key: string
  /** The operator of the requirement. `Gt` and `Lt`, which compare integers, do not occur in `LabelSelector` objects. */
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt'
  readonly values: readonly string[]
}

/** A label selector in an object (`meta/v1 LabelSelector`). An empty selector matches all objects. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
    readonly values?: readonly string[]
  }[]
}

const expressionFields = { key: isText, operator: isOneOf('In', 'NotIn', 'Exists', 'DoesNotExist'), values: isListOf(isText) }

/** Checks the types of a selector's fields. `selectorProblems` validates the keys and values in the selector. */
export const isLabelSelector: OptionCheck = hasOptions({
  matchLabels: isAnObject,
  matchExpressions: isListOf(hasOptions(expressionFields, ['key', 'operator'])),
} satisfies Record<keyof LabelSelector, OptionCheck>)

/** Returns the error messages for the keys and values of a selector. Each message starts with the path of the field in the selector. */
export function selectorProblems({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [
    ...Object.entries(matchLabels).flatMap(([key, value]) =>
      [...qualifiedName(key), ...labelValue(value)].map((message) => `matchLabels[${key}]: ${message}`),
    ),
    ...matchExpressions.flatMap(({ key, operator, values = [] }, index) => {
      const at = `matchExpressions[${index}]`
      const takesValues = operator === 'In' || operator === 'NotIn'
      return [
        ...[...qualifiedName(key), ...values.flatMap(labelValue)].map((message) => `${at}: ${message}`),
        ...(takesValues === values.length > 0
          ? []
          : [`${at}.values: ${takesValues ? 'must be there with' : 'must not be there with'} ${operator}`]),
      ]
    }),
  ]
}

/**
 * Validates a selector, and returns its requirements. Validation is necessary, because an invalid key or value, for example a value with a
 * comma, could change the meaning of the `labelSelector` query parameter.
 *
 * @throws {ProreusError} `PRO_INPUT` with all errors.
 */
export function checkedRequirements(selector: LabelSelector): LabelRequirement[] {
  // A caller without type checks can pass any value. Without this check, a selector whose only field is misspelled would match all objects.
  const wrong = isLabelSelector(selector, 'labelSelector')
  const problems = wrong.length > 0 ? wrong : selectorProblems(selector)
  if (problems.length === 0) return requirementsOf(selector)
  throw new ProreusError('PRO_INPUT', `The label selector is not valid: ${problems.join('; ')}.`)
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
      case 'Gt':
      case 'Lt': {
        const [actual, bound] = [int64Of(value), int64Of(values[0])]
        return actual !== undefined && bound !== undefined && (operator === 'Gt' ? actual > bound : actual < bound)
      }
    }
  })
}

/** Parses an integer like Go's `strconv.ParseInt`. Returns undefined for any other text, and for an integer beyond the range of int64. */
function int64Of(text = ''): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text)
  return value === BigInt.asIntN(64, value) ? value : undefined
}

/** Formats requirements as the value of the `labelSelector` query parameter. */
export function formatLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return key
      if (operator === 'DoesNotExist') return `!${key}`
      if (operator === 'Gt' || operator === 'Lt') return `${key}${operator === 'Gt' ? '>' : '<'}${values[0]}`
      if (values.length === 1) return `${key}${operator === 'In' ? '=' : '!='}${values[0]}`
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`
    })
    .join(',')
}

/**
 * Returns the requirements of a selector such as `a=b,c!=d,e in (f,g),h,!i,j>1`.
 *
 * @throws {SyntaxError} with the message of the API server, when the selector is invalid.
 */
export function parseLabelSelector(text: string): LabelRequirement[] {
  // This regular expression splits the selector into the same tokens as kube-apiserver (k8s.io/apimachinery/pkg/labels: Lexer). White space
  // separates tokens, so `= =` is two tokens, and not the token `==`.
  const tokens = text.match(/==|!=|[!=<>,()]|[^ \t\r\n!=<>,()]+/g) ?? []
  const requirements: LabelRequirement[] = []
  let at = 0
  const unexpected = (expected: string): SyntaxError => new SyntaxError(`found '${tokens[at] ?? ''}', expected: ${expected}`)
  const unparsable = (detail: string): SyntaxError => new SyntaxError(`unable to parse requirement: ${detail}`)
  const isWord = (token: string | undefined): token is string => token !== undefined && !/^[!=<>,()]/.test(token)
  const next = (expected: string): string => {
    const token = tokens[at]
    if (!isWord(token)) throw unparsable(unexpected(expected).message)
    at += 1
    return token
  }
  while (at < tokens.length) {
    if (tokens[at] === '!') {
      at += 1
      requirements.push({ key: checkedKey(next('identifier')), operator: 'DoesNotExist', values: [] })
    } else {
      if (!isWord(tokens[at])) throw unexpected("!, identifier, or 'end of string'")
      requirements.push(checked(withOperator(checkedKey(tokens[at++]!))))
    }
    if (at === tokens.length) break
    if (tokens[at] !== ',') throw unexpected("',' or 'end of string'")
    at += 1
    if (tokens[at] !== '!' && !isWord(tokens[at])) throw unexpected("identifier after ','")
  }
  return requirements

  function withOperator(key: string): LabelRequirement {
    const token = tokens[at]
    if (token === undefined || token === ',') return { key, operator: 'Exists', values: [] }
    if (token === '=' || token === '==' || token === '!=') {
      at += 1
      return { key, operator: token === '!=' ? 'NotIn' : 'In', values: [value()] }
    }
    if (token === '<' || token === '>') {
      at += 1
      return { key, operator: token === '<' ? 'Lt' : 'Gt', values: [value()] }
    }
    if (token !== 'in' && token !== 'notin') throw unparsable(unexpected('in, notin, =, ==, !=, gt, lt').message)
    at += 1
    if (tokens[at] !== '(') throw unparsable(`found '${tokens[at] ?? ''}' expected: '('`)
    at += 1
    return { key, operator: token === 'in' ? 'In' : 'NotIn', values: values() }
  }

  /** Parses the values of `in` or `notin` up to the closing parenthesis. A missing value is an empty string. */
  function values(): string[] {
    const found = [tokens[at] === ',' || tokens[at] === ')' ? '' : next("',', ')' or identifier")]
    for (;;) {
      if (tokens[at] === ')') {
        at += 1
        return [...new Set(found)]
      }
      if (tokens[at] !== ',') throw unparsable(unexpected("',' or ')'").message)
      at += 1
      found.push(tokens[at] === ',' || tokens[at] === ')' ? '' : next("',', or identifier"))
    }
  }

  function value(): string {
    return tokens[at] === undefined || tokens[at] === ',' ? '' : next('identifier')
  }

  function checkedKey(key: string): string {
    const problems = qualifiedName(key)
    if (problems.length > 0) throw unparsable(`<nil>: Invalid value: ${quote(key)}: ${problems.join('; ')}`)
    return key
  }

  function checked(requirement: LabelRequirement): LabelRequirement {
    const { key, operator, values } = requirement
    const errors: string[] = []
    if ((operator === 'Gt' || operator === 'Lt') && int64Of(values[0]) === undefined) {
      errors.push(`values[0]: Invalid value: ${quote(values[0] ?? '')}: for 'Gt', 'Lt' operators, the value must be an integer`)
    }
    // kube-apiserver sorts the values first. The index in a message is the index in the sorted list.
    values.toSorted().forEach((one, index) => {
      const ofValue = labelValue(one)
      if (ofValue.length > 0) errors.push(`values[${index}][${key}]: Invalid value: ${quote(one)}: ${ofValue.join('; ')}`)
    })
    if (errors.length > 0) throw unparsable(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
    return requirement
  }
}
