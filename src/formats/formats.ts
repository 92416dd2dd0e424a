/**
 * The values of `format` that kube-apiserver validates. Each format accepts the same strings as the parser that kube-apiserver uses: Go's
 * net, net/url, net/mail and time, or govalidator. Unknown formats are ignored.
 */
import { isEmail } from './email.ts'
import { isCidr, isHostname, isIpv4, isIpv6, isMac, isRequestUri } from './network.ts'
import { isDate, isDateTime, isDuration } from './time.ts'

export interface Format {
  /** The name of the format as written in the schema, for error messages. */
  readonly name: string
  test(text: string): boolean
}

/** Returns the format with this name, or undefined when the name is absent or unknown. Hyphens in the name are ignored. */
export function formatOf(name: string | undefined): Format | undefined {
  const test = name === undefined ? undefined : checks.get(name.replaceAll('-', ''))
  return name === undefined || test === undefined ? undefined : { name, test }
}

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', (text) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
  ['k8sshortname', (text) => text.length <= 63 && new RegExp(`^${label}$`).test(text)],
  ['k8slongname', (text) => text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`).test(text)],
])

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text)
}

/**
 * Removes hyphens, and the characters that `\s` matches in the regular expression library RE2. An ISBN can contain these characters at any
 * position.
 */
function bookNumber(text: string): string {
  return text.replace(/[\t\n\f\r -]+/g, '')
}

function isIsbn10(text: string): boolean {
  const number = bookNumber(text)
  if (!/^\d{9}[\dX]$/.test(number)) return false
  const sum = [...number].reduce((total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)), 0)
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const number = bookNumber(text)
  if (!/^\d{13}$/.test(number)) return false
  const sum = [...number].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0)
  return sum % 10 === 0
}

/** Returns true when the prefix and the length of the card number belong to a known card issuer, and the check digit (Luhn) is correct. */
function isCreditCard(text: string): boolean {
  const number = text.replace(/[^0-9]+/g, '')
  const issued =
    /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/
  if (!issued.test(number)) return false
  let sum = 0
  for (let index = 0; index < number.length; index += 1) {
    const digit = Number(number[number.length - 1 - index])
    sum += index % 2 === 0 ? digit : digit < 5 ? digit * 2 : digit * 2 - 9
  }
  return sum % 10 === 0
}

function isRgbColor(text: string): boolean {
  const channels = /^rgb\(([^)]*)\)$/.exec(text)?.[1]?.split(',')
  return (
    channels?.length === 3 && channels.every((channel) => /^[\t\n\f\r ]*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])[\t\n\f\r ]*$/.test(channel))
  )
}
