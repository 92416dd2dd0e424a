/**
 * Validates numbers with kube-apiserver's arithmetic (kube-openapi `numberValidator`). Go distinguishes integers from floats. If the value
 * is an integer, a bound is truncated before the comparison.
 */
import type { FieldError } from '../api/field-error.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { childless, fieldOf } from '../api/field-path.ts'

export interface NumberRules {
  /**
   * The type of the schema if the type is `integer` or `number`; undefined for all other schemas, such as an int-or-string. If `type` is
   * undefined, `inRange` returns true for every number. `inRange` never checks `minimum` and `maximum`. `numberErrors` always checks them,
   * even if `type` is undefined.
   */
  readonly type: 'integer' | 'number' | undefined
  readonly format: 'int32' | 'int64' | 'float' | 'double' | undefined
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly exclusiveMinimum: boolean
  readonly exclusiveMaximum: boolean
  readonly multipleOf: number | undefined
}

/** 2^63: one more than the greatest int64. If an integer does not fit into an int64, Go's decoder reads the integer as a float. */
export const maxInt64 = 2 ** 63
export const maxInt32 = 2 ** 31 - 1
/** The midpoint between the greatest float32 and 2^128. Go's conversion to float32 rounds this value and all greater values to infinity. */
const float32Overflow = 2 ** 128 - 2 ** 103
/** The greatest magnitude of a float that Go's package `swag` may treat as an integer. */
const maxExactInteger = Number.MAX_SAFE_INTEGER
const relativeTolerance = 1e-9

export function numberRules(schema: StructuralSchema, types: readonly string[]): NumberRules {
  const single = types.length === 1 ? types[0] : undefined
  const type = single === 'integer' || single === 'number' ? single : undefined
  const { format } = schema
  return {
    type,
    format:
      (type === 'integer' && (format === 'int32' || format === 'int64')) ||
      (type === 'number' && (format === 'float' || format === 'double'))
        ? format
        : undefined,
    minimum: schema.minimum,
    maximum: schema.maximum,
    exclusiveMinimum: schema.exclusiveMinimum === true,
    exclusiveMaximum: schema.exclusiveMaximum === true,
    multipleOf: schema.multipleOf,
  }
}

/**
 * Returns true for a whole JSON number that fits into an int64, such as `1`, `1.0` and `1e3`. The minimum int64, -2^63, is always
 * represented by a bigint. Therefore, a `number` with the value -2^63 is a float.
 */
export function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < maxInt64)
}

/**
 * Returns true if a number is in the range of the type and format in `rules`. The number is a value that is validated, or a `minimum`,
 * `maximum` or `multipleOf` of the schema.
 */
export function inRange(rules: NumberRules, value: number | bigint): boolean {
  if (rules.type === 'integer') {
    if (!isInteger(value)) return false
    return rules.format !== 'int32' || (value >= -maxInt32 - 1 && value <= maxInt32)
  }
  return rules.format !== 'float' || Math.abs(Number(value)) < float32Overflow
}

/**
 * Validates the number at `path` with `rules`, and returns all errors. If the schema does not permit the type of the number, `explainType`
 * reports this error separately.
 */
export function numberErrors(rules: NumberRules, value: number | bigint, path: string): FieldError[] {
  const errors: FieldError[] = []
  const checkRange = (number: number | bigint, what: string): boolean => {
    if (inRange(rules, number)) return true
    const format = rules.format === undefined ? '(default format)' : `with format ${rules.format}`
    errors.push(childless(`${what} value must be of type ${rules.type ?? ''} ${format} in ${path}`))
    return false
  }
  /**
   * Compares `value` with a bound. Before the comparison, the bound is truncated to an int64 if the bound passes `checkRange` and `value`
   * is an integer.
   */
  const check = (bound: number | undefined, what: string, holds: (bound: number, integer: boolean) => boolean, detail: string): void => {
    if (bound === undefined) return
    const integer = checkRange(bound, what) && isInteger(value)
    const compared = integer ? toInt64(bound) : bound
    if (holds(compared, integer)) return
    const format = integer ? formatInteger : formatFloat
    errors.push(numberError(path, format(value), `${path} in body should be ${detail} ${format(compared)}`))
  }
  checkRange(value, 'Checked')
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules
  const factor = multipleOf === undefined || !isInteger(value) ? multipleOf : toInt64(multipleOf)
  if (factor !== undefined && factor <= 0 && checkRange(multipleOf!, 'MultipleOf')) {
    const text = isInteger(value) ? String(factor) : formatFloat(factor)
    errors.push(numberError(path, text, `factor MultipleOf declared for ${path} must be positive: ${text}`))
  } else check(multipleOf, 'MultipleOf', (factor, integer) => isMultiple(value, factor, integer), 'a multiple of')
  check(
    minimum,
    'Minimum boundary',
    (bound) => (exclusiveMinimum ? value > bound : value >= bound),
    exclusiveMinimum ? 'greater than' : 'greater than or equal to',
  )
  check(
    maximum,
    'Maximum boundary',
    (bound) => (exclusiveMaximum ? value < bound : value <= bound),
    exclusiveMaximum ? 'less than' : 'less than or equal to',
  )
  return errors
}

/** Converts a float to an int64 as Go does on amd64: a float out of range becomes the minimum int64. */
function toInt64(value: number): number {
  return Math.abs(value) < maxInt64 ? Math.trunc(value) : -maxInt64
}

/** Formats an integer with all its digits, without an exponent. */
function formatInteger(value: number | bigint): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString()
}

function numberError(path: string, value: string, detail: string): FieldError {
  return { path: fieldOf(path), reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${detail}` }
}

function isMultiple(value: number | bigint, factor: number, integer: boolean): boolean {
  if (integer) return typeof value === 'bigint' ? value % BigInt(factor) === 0n : value % factor === 0
  const float = Number(value)
  return isNearlyInteger(factor < 1 ? (1 / factor) * float : float / factor)
}

/**
 * Returns true if the value is an integer, or is a little greater than a positive integer: the difference divided by the sum of both
 * numbers is below 1e-9 (Go's `swag.IsFloat64AJSONInteger`).
 */
function isNearlyInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > maxExactInteger) return false
  const whole = Math.trunc(value)
  if (value === whole) return true
  return value > 0 && whole > 0 && (value - whole) / (value + whole) < relativeTolerance
}

/** Formats a float as Go's `%v` does: `0.00001` as `1e-05`, and `1000000` as `1e+06`. */
function formatFloat(number: number | bigint): string {
  const value = Number(number)
  const size = Math.abs(value)
  const text = value !== 0 && (size < 1e-4 || size >= 1e6) ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
