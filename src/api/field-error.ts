/**
 * Errors about fields of an object, in the format of the API server (k8s.io/apimachinery `pkg/util/validation/field`), and the `Status`
 * that contains them.
 */
import { canonicalJson } from './json.ts'
import type { GroupVersionKind } from './group-version-kind.ts'
import { groupKindOf } from './group-version-kind.ts'
import type { Status } from './status.ts'

/** The type of an error. This type becomes the `reason` of a cause in `Status.details.causes`. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'InternalError'

export interface FieldError {
  /** The path of the field, e.g. `spec.containers[0].name`; `<nil>` for an error in which kube-apiserver names no field. */
  readonly path: string
  readonly reason: FieldErrorReason
  /** The message without the path, e.g. `Invalid value: "x": must be …`. */
  readonly message: string
}

/**
 * Matches the characters that Go's `%q` escapes in addition to `"` and `\`: all characters except letters, marks, numbers, punctuation,
 * symbols and the ASCII space.
 */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu
const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
}

/** Formats a string like Go's `%q`. */
export function quote(text: string): string {
  const escaped = text.toWellFormed().replace(/["\\]/g, '\\$&').replace(unprintable, escapeCharacter)
  return `"${escaped}"`
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0')
  return shortEscapes[character] ?? (code < 0x80 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`)
}

/**
 * Maximum length of a value in a message, in UTF-16 units. kube-apiserver has no such limit: it repeats the whole value in each error, even
 * if the value is a large object.
 */
const maxShown = 16_384

/** Formats a value for a message. Strings are quoted, numbers are formatted as in Go, and other values are JSON with sorted keys. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value.length > maxShown ? `${quote(value.slice(0, maxShown))}…` : quote(value)
  if (typeof value === 'number') return formatNumber(value)
  const text = canonicalJson(value)
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
  return shown.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Formats a number like Go's `%v`. An int64 has all its digits. A float has an exponent if its absolute value is at least 1e6 or less than
 * 1e-4.
 */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString()
  const [digits, power] = value.toExponential().split('e') as [string, string]
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

export function required(path: string, detail = ''): FieldError {
  return { path, reason: 'FieldValueRequired', message: detail === '' ? 'Required value' : `Required value: ${detail}` }
}

export function invalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${formatValue(value)}: ${detail}` }
}

export function typeInvalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: 'FieldValueTypeInvalid', message: `Invalid value: ${formatValue(value)}: ${detail}` }
}

export function notSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map(quote).join(', ')
  return { path, reason: 'FieldValueNotSupported', message: `Unsupported value: ${formatValue(value)}: supported values: ${values}` }
}

export function duplicate(path: string, value: unknown): FieldError {
  return { path, reason: 'FieldValueDuplicate', message: `Duplicate value: ${formatValue(value)}` }
}

export function notFoundField(path: string, value: unknown): FieldError {
  return { path, reason: 'FieldValueNotFound', message: `Not found: ${formatValue(value)}` }
}

export function forbidden(path: string, detail: string): FieldError {
  return { path, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` }
}

export function tooLong(path: string, maxBytes: number): FieldError {
  const detail = maxBytes < 0 ? 'value is too long' : `may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`
  return { path, reason: 'FieldValueTooLong', message: `Too long: ${detail}` }
}

export function tooMany(path: string, actual: number, max: number): FieldError {
  const detail = max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`
  return { path, reason: 'FieldValueTooMany', message: `Too many: ${actual}: ${detail}` }
}

/**
 * Returns an error with the reason `InternalError`. kube-apiserver reports this error when it fails to process a value. The value itself
 * may be valid.
 */
export function internalFieldError(path: string, detail: string): FieldError {
  return { path, reason: 'InternalError', message: `Internal error: ${detail}` }
}

/** Formats an error as `path: message`. */
export function formatFieldError(error: FieldError): string {
  return `${error.path}: ${error.message}`
}

/** Returns the errors without duplicates, sorted by path. */
export function sortFieldErrors(errors: readonly FieldError[]): FieldError[] {
  const unique = new Map(errors.map((error) => [`${error.path}\0${error.reason}\0${error.message}`, error]))
  return [...unique.values()].sort((a, b) => comparePaths(a.path, b.path) || (a.message < b.message ? -1 : 1))
}

const pathOrder = new Intl.Collator('en', { numeric: true })
function comparePaths(a: string, b: string): number {
  return pathOrder.compare(a, b)
}

/**
 * Returns the 422 `Invalid` response that contains the errors of an object. A webhook's denial with this response looks like an error of
 * kube-apiserver's own validation, because kubectl prints the `causes`. Unless `keepOrder` is true, the errors are sorted by path, and
 * duplicates are dropped.
 */
export function invalidStatus(
  type: Pick<GroupVersionKind, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
  { keepOrder = false }: { readonly keepOrder?: boolean } = {},
): Status {
  const sorted = keepOrder ? errors : sortFieldErrors(errors)
  const texts = sorted.map(formatFieldError)
  const summary = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${groupKindOf(type)} ${quote(name)} is invalid: ${summary}`,
    reason: 'Invalid',
    details: {
      ...(name === '' ? {} : { name }),
      ...(type.group === '' ? {} : { group: type.group }),
      ...(type.kind === '' ? {} : { kind: type.kind }),
      causes: sorted.map((error) => ({ reason: error.reason, message: error.message, field: error.path })),
    },
    code: 422,
  }
}
