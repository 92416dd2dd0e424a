/** Literals of CEL, and useful arguments for its library functions. */
import type { Type } from '../../src/cel/types/types.ts'
import { formatType } from '../../src/cel/types/types.ts'
import type { Dice } from '../support/dice.ts'

/** Arguments for functions that reject most strings, keyed by function. */
const textsFor: Readonly<Record<string, readonly string[]>> = {
  quantity: [
    '1.5Gi',
    '1',
    '100m',
    '-3',
    '0',
    '1e3',
    '9223372036854775808',
    '1.123456789123',
    'x',
    '',
    '.5',
    '+1k',
    '1Ei',
    '5.0',
    '1E',
    '1u',
  ],
  ip: [
    '10.0.0.1',
    '::1',
    '::ffff:1.2.3.4',
    '01.2.3.4',
    'fe80::1%eth0',
    '224.0.0.1',
    'ff02::1',
    '0.0.0.0',
    'x',
    '2001:DB8::1',
    '169.254.1.1',
  ],
  cidr: ['10.0.0.0/8', '10.1.2.3/8', '::/0', '10.0.0.1/33', '1.2.3.4/08', '2001:db8::1/64', '::ffff:1.2.3.4/100', 'x', '0.0.0.0/0'],
  url: [
    'https://a.b:80/c%20d?x=1&x=2&y#f',
    '/a/b',
    'a:b',
    'http://[::1]:80/',
    '',
    'http://a b/',
    'http://a.b/%zz',
    '//a/b',
    'HTTP://U:P@H/é',
  ],
  semver: ['1.2.3', 'v1.2', '1.2.3-a.1+b', '01.2.3', '1.2', '1.2.3-01', 'x', '', '1.2.18446744073709551615', '1.0.0-alpha.beta', 'v1.02.3'],
  matches: ['^a', 'b$', '[a-z]+', '(?i)A', '', '(', '\\\\d{2,3}', '(a|b)*', 'é', '.', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', '(?=a)', '\\\\pL'],
  duration: ['1h', '1.5s', '-1m', '1x', '', '1h30m5s', '0', '300000h', '100us', '1ns'],
  timestamp: ['2020-02-29T00:00:00Z', '2020-01-01T00:00:00.5+01:00', '2020-01-01', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', 'x'],
  'format.named': ['dns1123Label', 'uuid', 'date', 'x', 'qualifiedName', 'labelValue', 'byte', 'uri', 'dns1035Label', 'datetime'],
  validate: ['a-b', 'A', 'a.b', '-a', '2020-01-01', 'x'.repeat(70), '', 'a/b', 'YQ==', 'YQ', 'http://a.b', 'a/b/c'],
  getHours: ['UTC', 'Europe/Berlin', '+01:00', 'x', '-02:30', '', 'America/New_York'],
  int: ['1', '-5', '9223372036854775808', 'x', '', '1.5', '0x1', '+1', ' 1'],
  uint: ['1', '-5', '18446744073709551615', 'x'],
  double: ['1.5', 'x', '1e400', 'NaN', 'Infinity', '-0', '1e-7', '0x1p-2', '1_000'],
  bool: ['true', 'T', 'FALSE', 'x', '1', 'tRue'],
  format: ['%d', '%s and %s', '%', '%.2f', '%x', '%b', '%e', '%o', '%%', '%d %d', '%X', '%y', 'plain', '%.3e', '%s'],
}
const sameTexts: Readonly<Record<string, string>> = {
  isQuantity: 'quantity',
  isIP: 'ip',
  'ip.isCanonical': 'ip',
  containsIP: 'ip',
  isCIDR: 'cidr',
  containsCIDR: 'cidr',
  isURL: 'url',
  isSemver: 'semver',
  find: 'matches',
  findAll: 'matches',
  getMinutes: 'getHours',
  getDate: 'getHours',
  getDayOfWeek: 'getHours',
  getFullYear: 'getHours',
  getMonth: 'getHours',
}

/**
 * Returns a random string literal as an argument for the CEL function `name`. Some of the possible literals are invalid for the CEL
 * function. Returns undefined if no literals are listed for the CEL function.
 */
export function argumentFor(dice: Dice, name: string): string | undefined {
  const texts = textsFor[sameTexts[name] ?? name]
  return texts === undefined ? undefined : `'${dice.pick(texts)}'`
}

const literals: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int: ['0', '1', '2', '3', '-1', '5', '9223372036854775807', '-9223372036854775808', '0x1F', '100', '4611686018427387904'],
  uint: ['0u', '1u', '3u', '18446744073709551615u', '0x1Fu'],
  double: ['0.0', '1.5', '-2.25', '1e300', '0.1', '1e-7', '3.0', '9007199254740993.0', '1e19'],
  bytes: ["b'a'", "b''", "b'\\xff'", "b'é'", "bytes('ab')"],
  'google.protobuf.Duration': ["duration('1h')", "duration('0s')", "duration('-1.5s')", "duration('876000h')"],
  'google.protobuf.Timestamp': ["timestamp('2020-01-01T00:00:00Z')", "timestamp('1969-12-31T23:59:59.5Z')", 'timestamp(0)'],
  null_type: ['null'],
  type: ['int', 'string', 'type(1)', 'list', 'bool', 'type'],
  'kubernetes.Quantity': ["quantity('1.5Gi')", "quantity('3')", "quantity('100m')"],
  'kubernetes.URL': ["url('https://a.b:80/c?x=1')", "url('/a')"],
  'kubernetes.Semver': ["semver('1.2.3')", "semver('1.2.3-a.1')"],
  'kubernetes.NamedFormat': ['format.dns1123Label()', 'format.uuid()', 'format.date()'],
  'net.IP': ["ip('10.0.0.1')", "ip('::1')"],
  'net.CIDR': ["cidr('10.0.0.0/8')", "cidr('::/0')"],
}
const strings = [
  "'a'",
  "'b'",
  '""',
  "'ab'",
  '"a\\"b"',
  "r'\\d'",
  "'\\u00e9'",
  "'é👍'",
  "'a.b'",
  "'\\n'",
  "'\\x41\\t'",
  "'A'",
  "'10.0.0.1'",
  "'1.5Gi'",
  "'''a'b'''",
  "'aaaa'",
]

/** Returns a literal of the type, or a call that converts a literal to the type; undefined when there is neither. */
export function literal(dice: Dice, type: Type, depth = 2): string | undefined {
  if (type.kind === 'string') return dice.pick(strings)
  const [first, second] = type.parameters
  const below = (one: Type | undefined): string => (one && depth > 0 ? literal(dice, one, depth - 1) : undefined) ?? "dyn('a')"
  if (type.kind === 'list') return `[${dice.times(3, () => below(first)).join(', ')}]`
  // The API server crashes when the key of a map literal has the type bytes, because Go cannot hash such keys.
  const key = (): string => (first?.kind === 'dyn' ? dice.pick(["dyn('a')", 'dyn(1)', 'dyn(true)', 'dyn(1.5)']) : below(first))
  if (type.kind === 'map') return `{${dice.times(2, () => `${key()}: ${below(second)}`).join(', ')}}`
  if (type.name === 'optional_type') return dice.chance(0.3) ? 'optional.none()' : `optional.of(${below(first)})`
  if (type.kind === 'dyn') return `dyn(${dice.pick(Object.values(literals).flat())})`
  const known = literals[type.kind === 'type' ? 'type' : type.name]
  return known === undefined ? undefined : dice.pick(known)
}

export function isSame(a: Type, b: Type): boolean {
  return formatType(a) === formatType(b)
}
