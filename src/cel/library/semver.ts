/**
 * Functions on semantic versions: `semver('1.2.3').isLessThan(semver('1.10.0'))`, with the error messages of `github.com/blang/semver/v4`.
 */
import { quote } from '../../api/field-error.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import { checkedInt, maxUint } from '../types/integers.ts'
import { OpaqueValue } from '../types/values.ts'

class Semver extends OpaqueValue {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly bigint[]
  /**
   * Identifiers of the pre-release version, such as `rc` and `1` of `rc.1`. An identifier that consists of digits is stored as a bigint.
   */
  readonly prerelease: readonly (string | bigint)[]
  constructor(numbers: readonly bigint[], prerelease: readonly (string | bigint)[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Semver && compareVersions(this, other) === 0
  }
}

const digits = /^\d+$/
const alphanumeric = /^[A-Za-z0-9-]+$/

function parseNumber(text: string, what: string): bigint {
  if (text === '') throw new CelError('strconv.ParseUint: parsing "": invalid syntax')
  if (!digits.test(text)) throw new CelError(`Invalid character(s) found in ${what} number ${quote(text)}`)
  const label = `${what[0]!.toUpperCase()}${what.slice(1)}`
  if (text.length > 1 && text.startsWith('0')) throw new CelError(`${label} number must not contain leading zeroes ${quote(text)}`)
  return parseUint(text)
}

function parseUint(text: string): bigint {
  const value = text.length > 20 ? maxUint + 1n : BigInt(text)
  if (value > maxUint) throw new CelError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`)
  return value
}

function parsePrerelease(text: string): string | bigint {
  if (text === '') throw new CelError('Prerelease is empty')
  if (!digits.test(text)) {
    if (!alphanumeric.test(text)) throw new CelError(`Invalid character(s) found in prerelease ${quote(text)}`)
    return text
  }
  if (text.length > 1 && text.startsWith('0'))
    throw new CelError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`)
  return parseUint(text)
}

/** Splits a version at its first two dots. */
function splitVersion(text: string): string[] {
  const [major = '', minor, ...rest] = text.split('.')
  return minor === undefined ? [major] : rest.length === 0 ? [major, minor] : [major, minor, rest.join('.')]
}

function parseSemver(text: string): Semver {
  if (text === '') throw new CelError('Version string empty')
  const parts = splitVersion(text)
  if (parts.length !== 3) throw new CelError('No Major.Minor.Patch elements found')
  const major = parseNumber(parts[0]!, 'major')
  const minor = parseNumber(parts[1]!, 'minor')
  const plus = parts[2]!.indexOf('+')
  const version = plus < 0 ? parts[2]! : parts[2]!.slice(0, plus)
  const dash = version.indexOf('-')
  const patch = parseNumber(dash < 0 ? version : version.slice(0, dash), 'patch')
  const prerelease =
    dash < 0
      ? []
      : version
          .slice(dash + 1)
          .split('.')
          .map(parsePrerelease)
  for (const part of plus < 0 ? [] : parts[2]!.slice(plus + 1).split('.')) {
    if (part === '') throw new CelError('Build meta data is empty')
    if (!alphanumeric.test(part)) throw new CelError(`Invalid character(s) found in build meta data ${quote(part)}`)
  }
  return new Semver([major, minor, patch], prerelease)
}

/** Changes a version such as `v1.2` to `1.2.0`, and removes leading zeros. */
function normalize(text: string): string {
  const parts = splitVersion(text.replace(/^v/, '')).map((part) => {
    if (Buffer.byteLength(part) <= 1) return part
    const trimmed = part.replace(/^0+/, '')
    return /^\d/.test(trimmed) ? trimmed : `0${trimmed}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) throw new CelError('short version cannot contain PreRelease/Build meta data')
  while (parts.length < 3) parts.push('0')
  return parts.join('.')
}

function compareParts(a: string | bigint, b: string | bigint): number {
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function compareVersions(a: Semver, b: Semver): number {
  for (const [index, number] of a.numbers.entries()) {
    const order = compareParts(number, b.numbers[index]!)
    if (order !== 0) return order
  }
  // A release has a higher precedence than its pre-releases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length)
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index]
    const order = other === undefined ? 1 : compareParts(part, other)
    if (order !== 0) return order
  }
  return Math.sign(a.prerelease.length - b.prerelease.length)
}

function isSemver(text: string, normalized: boolean): boolean {
  try {
    parseSemver(normalized ? normalize(text) : text)
    return true
  } catch {
    return false
  }
}

const type = 'kubernetes.Semver'

export const semvers: readonly Overload[] = [
  define(`semver(string) -> ${type}`, 'string_to_semver', parseSemver),
  define(`semver(string, bool) -> ${type}`, 'string_bool_to_semver', (text: string, normalized: boolean) =>
    parseSemver(normalized ? normalize(text) : text),
  ),
  define('isSemver(string) -> bool', 'is_semver_string', (text: string) => isSemver(text, false)),
  define('isSemver(string, bool) -> bool', 'is_semver_string_bool', isSemver),
  define(`${type}::isGreaterThan(${type}) -> bool`, 'semver_is_greater_than', (a: Semver, b: Semver) => compareVersions(a, b) > 0),
  define(`${type}::isLessThan(${type}) -> bool`, 'semver_is_less_than', (a: Semver, b: Semver) => compareVersions(a, b) < 0),
  define(`${type}::compareTo(${type}) -> int`, 'semver_compare_to', compareVersions),
  ...['major', 'minor', 'patch'].map((name, index) =>
    define(`${type}::${name}() -> int`, `semver_${name}`, ({ numbers }: Semver) => checkedInt(BigInt.asIntN(64, numbers[index]!))),
  ),
]
