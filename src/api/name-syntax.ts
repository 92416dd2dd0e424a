/**
 * Validates the syntax of names, labels and annotations with the rules and messages of the API server (k8s.io/apimachinery
 * `pkg/util/validation`). Each function returns a list of error messages, which is empty for a valid value.
 */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

const labelPattern = new RegExp(`^${label}$`)
const label1035Pattern = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const subdomainPattern = new RegExp(`^${subdomain}$`)
const qualifiedPattern = new RegExp(`^${qualified}$`)
const labelValuePattern = new RegExp(`^(${qualified})?$`)
/**
 * Matches a valid qualified name without a prefix. This pattern is tested before the other checks, for speed: most values and many
 * keys of labels match this pattern, and an object may have thousands of labels.
 */
const plainName = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

function tooLong(max: number): string {
  return `must be no more than ${max} bytes`
}

function regexMessage(text: string, pattern: string, ...examples: string[]): string {
  const quoted = examples.map((example) => `'${example}'`)
  const list = quoted.length === 1 ? `e.g. ${quoted[0]}, ` : `e.g. ${quoted.join(',  or ')}, `
  return `${text} (${list}regex used for validation is '${pattern}')`
}

/** Validates a DNS label of up to 63 characters, such as the name of a namespace or container. */
export function dns1123Label(value: string): string[] {
  return [
    ...(Buffer.byteLength(value) > 63 ? [tooLong(63)] : []),
    ...(labelPattern.test(value)
      ? []
      : [
          regexMessage(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            label,
            'my-name',
            '123-abc',
          ),
        ]),
  ]
}

/** Validates a DNS subdomain of up to 253 characters, such as the name of most objects. */
export function dns1123Subdomain(value: string): string[] {
  return [
    ...(Buffer.byteLength(value) > 253 ? [tooLong(253)] : []),
    ...(subdomainPattern.test(value)
      ? []
      : [
          regexMessage(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            subdomain,
            'example.com',
          ),
        ]),
  ]
}

/**
 * Validates an object name that must be a DNS subdomain. Most types require such a name. The only difference from `dns1123Subdomain` is the
 * error message for a name that is too long: the message contains `characters` instead of `bytes`.
 */
export function longName(value: string): string[] {
  return dns1123Subdomain(value).map(inCharacters)
}

/**
 * Validates the name of a namespace or a Service, which is a DNS label. Two messages differ from those of `dns1123Label`:
 *
 * - For a name that is too long, the message contains `characters` instead of `bytes`.
 * - For a name whose syntax is invalid only because of its dots, the message is `must not contain dots`.
 */
export function shortName(value: string): string[] {
  const details = dns1123Label(value).map(inCharacters)
  return value.includes('.') && subdomainPattern.test(value) ? [...details.slice(0, -1), 'must not contain dots'] : details
}

function inCharacters(detail: string): string {
  return detail.replace(/^(must be no more than \d+) bytes$/, '$1 characters')
}

/** Validates a DNS label that starts with a letter, such as the plural name of a resource. */
export function dns1035Label(value: string): string[] {
  return [
    ...(Buffer.byteLength(value) > 63 ? [inCharacters(tooLong(63))] : []),
    ...(label1035Pattern.test(value)
      ? []
      : [
          regexMessage(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            '[a-z]([-a-z0-9]*[a-z0-9])?',
            'my-name',
            'abc-123',
          ),
        ]),
  ]
}

/** Validates a qualified name (`[prefix/]name`), such as the key of a label or annotation, a finalizer, or a condition type. */
export function qualifiedName(value: string): string[] {
  if (plainName.test(value)) return []
  const parts = value.split('/')
  const errors: string[] = []
  let name = value
  if (parts.length === 2) {
    const [prefix = '', rest = ''] = parts
    name = rest
    if (prefix === '') errors.push('prefix part must be non-empty')
    else errors.push(...dns1123Subdomain(prefix).map((message) => `prefix part ${message}`))
  } else if (parts.length > 2) {
    const message = regexMessage(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      qualified,
      'MyName',
      'my.name',
      '123-abc',
    )
    return [`a valid label key ${message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (Buffer.byteLength(name) > 63) errors.push(`name part ${tooLong(63)}`)
  if (!qualifiedPattern.test(name)) {
    errors.push(
      `name part ${regexMessage("must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", qualified, 'MyName', 'my.name', '123-abc')}`,
    )
  }
  return errors
}

export function labelValue(value: string): string[] {
  if (plainName.test(value)) return []
  return [
    ...(Buffer.byteLength(value) > 63 ? [tooLong(63)] : []),
    ...(labelValuePattern.test(value)
      ? []
      : [
          regexMessage(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            `(${qualified})?`,
            'MyValue',
            'my_value',
            '12345',
          ),
        ]),
  ]
}

/**
 * Validates a name with the rules that apply to all objects. The name of an object is a segment of the object's URL. Therefore, the name
 * must not be `.` or `..`, and must not contain `/` or `%`.
 */
export function pathSegmentName(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%'].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}
