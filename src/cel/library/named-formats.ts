/** Named formats: `!format.dns1123Label().validate(self.name).hasValue()` (`k8s.io/apiserver/pkg/cel/library: format.go`). */
import { dns1035Label, labelValue, longName, qualifiedName, shortName } from '../../api/name-syntax.ts'
import { formatOf } from '../../formats/formats.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { none, OpaqueValue, OptionalValue, PlainList } from '../types/values.ts'
import { requestUriProblem } from './urls.ts'

type Validate = (text: string) => readonly string[]

/** A named format. The cost of a validation depends on `patternSize`, the maximum length of the format's regular expression. */
export class NamedFormat extends OpaqueValue {
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  readonly patternSize: number
  readonly validate: Validate
  constructor(name: string, patternSize: number, validate: Validate) {
    super()
    this.name = name
    this.patternSize = patternSize
    this.validate = validate
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof NamedFormat && other.name === this.name
  }
}

/**
 * Converts a validation of names to a validation of prefixes (`generateName`). A prefix may end in a dash, because the server appends a
 * suffix. As in Go, the dash and the character before the dash are replaced by `a` before the validation
 * (`k8s.io/apimachinery/pkg/api/validation: maskTrailingDash`).
 */
function prefixOf(validate: Validate): Validate {
  return (text) => validate(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text)
}

function schemaFormat(name: string, problem: (text: string) => string): Validate {
  return (text) => (formatOf(name)!.test(text) ? [] : [problem(text)])
}

const uuidPatternSize = 70
const dateTimePatternSize = 71

const formats: readonly (readonly [string, NamedFormat])[] = [
  ['dns1123Label', new NamedFormat('DNS1123Label', 30, shortName)],
  ['dns1123Subdomain', new NamedFormat('DNS1123Subdomain', 60, longName)],
  ['dns1035Label', new NamedFormat('DNS1035Label', 30, dns1035Label)],
  ['qualifiedName', new NamedFormat('QualifiedName', 60, qualifiedName)],
  ['dns1123LabelPrefix', new NamedFormat('DNS1123LabelPrefix', 30, prefixOf(shortName))],
  ['dns1123SubdomainPrefix', new NamedFormat('DNS1123SubdomainPrefix', 60, prefixOf(longName))],
  ['dns1035LabelPrefix', new NamedFormat('DNS1035LabelPrefix', 30, prefixOf(dns1035Label))],
  ['labelValue', new NamedFormat('LabelValue', 40, labelValue)],
  ['uri', new NamedFormat('URI', 1103, schemaFormat('uri', requestUriProblem))],
  [
    'uuid',
    new NamedFormat(
      'uuid',
      uuidPatternSize,
      schemaFormat('uuid', () => 'does not match the UUID format'),
    ),
  ],
  [
    'byte',
    new NamedFormat(
      'byte',
      84,
      schemaFormat('byte', () => 'invalid base64'),
    ),
  ],
  [
    'date',
    new NamedFormat(
      'date',
      dateTimePatternSize,
      schemaFormat('date', () => 'invalid date'),
    ),
  ],
  [
    'datetime',
    new NamedFormat(
      'datetime',
      dateTimePatternSize,
      schemaFormat('datetime', () => 'invalid datetime'),
    ),
  ],
]
const byName = new Map(formats)
const type = 'kubernetes.NamedFormat'

export const namedFormats: readonly Overload[] = [
  ...formats.map(([name, format]) => define(`format.${name}() -> ${type}`, `format.${name}`, () => format)),
  define(`format.named(string) -> optional<${type}>`, 'format-named', (name: string) => {
    const format = byName.get(name)
    return format === undefined ? none : new OptionalValue(format)
  }),
  define(`${type}::validate(string) -> optional<list<string>>`, 'format-validate', (format: NamedFormat, text: string) => {
    const problems = format.validate(text)
    return problems.length === 0 ? none : new OptionalValue(new PlainList(problems))
  }),
]
