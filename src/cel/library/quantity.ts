/**
 * Functions on Kubernetes quantities: `quantity('1.5Gi').isGreaterThan(quantity('1G'))` (`k8s.io/apimachinery/pkg/api/resource:
 * quantity.go`).
 */
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Int } from '../types/integers.ts'
import { maxInt, minInt, toInt } from '../types/integers.ts'
import { Double, OpaqueValue } from '../types/values.ts'

/** A decimal number: `digits` times ten to the power of `power`. */
interface Amount {
  readonly digits: bigint
  readonly power: number
}

class Quantity extends OpaqueValue {
  readonly typeName = 'kubernetes.Quantity'
  readonly amount: Amount
  /**
   * True if Go stores the quantity as an `inf.Dec`, and not as an `int64Amount`. In Go, a quantity with an `inf.Dec` never counts as an
   * integer.
   */
  readonly big: boolean
  constructor(amount: Amount, big: boolean) {
    super()
    this.amount = amount
    this.big = big
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof Quantity && compareAmounts(this.amount, other.amount) === 0
  }
}

const decimalPowers: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const binaryPowers: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const maxDigits = 18
const format = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/
/** Maximum of a quantity with a binary suffix, 2^63 - 1. A larger quantity becomes this maximum. */
const maxBinary = maxInt
/**
 * Maximum absolute value of a decimal exponent. Unlike Go, this parser rejects larger exponents, because computations with such exponents
 * take very long.
 */
const maxPower = 400

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

function parseQuantity(text: string): Quantity {
  const match = text === '' ? null : format.exec(text)
  if (match === null) throw new CelError(wrongFormat)
  const [, sign = '', leading = '', fraction = '', suffix = ''] = match
  const whole = leading.replace(/^0+/, '') || '0'
  const suffixPower = interpretSuffix(suffix)
  if (suffixPower === undefined) throw new CelError("unable to parse quantity's suffix")
  // In a quantity without digits, such as `k`, `whole` is `0`, so the quantity is zero.
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n)
  if (suffixPower.base === 2) {
    const value = digits << BigInt(suffixPower.power)
    const precision = 15 - whole.length - Math.trunc((suffixPower.power * 3) / 10) - 1
    const fits = value >= minInt && value <= maxInt
    if (fraction === '' && precision >= 0 && fits) return new Quantity({ digits: value, power: 0 }, false)
    return new Quantity(capped(rounded({ digits: value, power: -fraction.length })), true)
  }
  const amount = { digits, power: suffixPower.power - fraction.length }
  const isFast = maxDigits - whole.length - fraction.length >= 0 && amount.power >= -9
  return isFast ? new Quantity(amount, false) : new Quantity(rounded(amount), true)
}

function interpretSuffix(suffix: string): { base: 2 | 10; power: number } | undefined {
  if (Object.hasOwn(decimalPowers, suffix)) return { base: 10, power: decimalPowers[suffix]! }
  if (Object.hasOwn(binaryPowers, suffix)) return { base: 2, power: binaryPowers[suffix]! }
  if (!/^[eE][-+]?\d+$/.test(suffix)) return undefined
  const power = Number(suffix.slice(1))
  return Math.abs(power) <= maxPower ? { base: 10, power } : undefined
}

/** Rounds an amount away from zero to a multiple of 10^-9, the precision of Go's quantities. */
function rounded({ digits, power }: Amount): Amount {
  if (power >= -9) return { digits, power }
  const divisor = 10n ** BigInt(-9 - power)
  const quotient = digits / divisor
  const exact = digits % divisor === 0n
  return { digits: exact ? quotient : quotient + (digits < 0n ? -1n : 1n), power: -9 }
}

function capped(amount: Amount): Amount {
  const limit = { digits: maxBinary, power: 0 }
  if (compareAmounts({ ...amount, digits: amount.digits < 0n ? -amount.digits : amount.digits }, limit) <= 0) return amount
  return amount.digits < 0n ? { digits: -maxBinary, power: 0 } : limit
}

function aligned(a: Amount, b: Amount): { left: bigint; right: bigint; power: number } {
  const power = Math.min(a.power, b.power)
  const scaled = (amount: Amount): bigint => amount.digits * 10n ** BigInt(amount.power - power)
  return { left: scaled(a), right: scaled(b), power }
}

function compareAmounts(a: Amount, b: Amount): number {
  const { left, right } = aligned(a, b)
  return left < right ? -1 : left > right ? 1 : 0
}

function add(a: Quantity, b: Quantity, factor: 1n | -1n = 1n): Quantity {
  if (b.amount.digits === 0n) return new Quantity(a.amount, a.big || b.big)
  if (a.amount.digits === 0n) return new Quantity({ ...b.amount, digits: b.amount.digits * factor }, a.big || b.big)
  const { left, right, power } = aligned(a.amount, b.amount)
  // To subtract `b`, Go adds the negation of `b`. If `b` is the minimum int64, the negation overflows, and its result is `b` itself. Go
  // then adds `b` instead of subtracting it.
  const isLeast = factor === -1n && b.amount.digits === minInt && !b.big && power === b.amount.power
  const digits = isLeast ? left + right : left + right * factor
  const fits = [left, right, digits].every((value) => value >= minInt && value <= maxInt)
  return new Quantity({ digits, power }, a.big || b.big || !fits)
}

/**
 * Returns the quantity as an integer. The result is undefined if the quantity does not fit into 64 bits, if Go stores it as an `inf.Dec`,
 * or if the power of ten is negative, as in `1.0` and `1000m` (`int64Amount.AsInt64`).
 */
function integerOf({ amount: { digits, power }, big }: Quantity): Int | undefined {
  if (big || power < 0) return undefined
  const value = digits * 10n ** BigInt(power)
  return value < minInt || value > maxInt ? undefined : toInt(value)
}

function fromInt(value: Int): Quantity {
  return new Quantity({ digits: BigInt(value), power: 0 }, false)
}

const type = 'kubernetes.Quantity'

export const quantities: readonly Overload[] = [
  define(`quantity(string) -> ${type}`, 'string_to_quantity', parseQuantity),
  define('isQuantity(string) -> bool', 'is_quantity_string', (text: string) => {
    try {
      parseQuantity(text)
      return true
    } catch {
      return false
    }
  }),
  define(`sign(${type}) -> int`, 'quantity_sign', ({ amount }: Quantity) => (amount.digits < 0n ? -1 : amount.digits > 0n ? 1 : 0)),
  define(
    `${type}::isGreaterThan(${type}) -> bool`,
    'quantity_is_greater_than',
    (a: Quantity, b: Quantity) => compareAmounts(a.amount, b.amount) > 0,
  ),
  define(
    `${type}::isLessThan(${type}) -> bool`,
    'quantity_is_less_than',
    (a: Quantity, b: Quantity) => compareAmounts(a.amount, b.amount) < 0,
  ),
  define(`${type}::compareTo(${type}) -> int`, 'quantity_compare_to', (a: Quantity, b: Quantity) => compareAmounts(a.amount, b.amount)),
  define(
    `${type}::asApproximateFloat() -> double`,
    'quantity_get_float',
    ({ amount }: Quantity) => new Double(amount.power === 0 ? Number(amount.digits) : Number(amount.digits) * 10 ** amount.power),
  ),
  define(`${type}::asInteger() -> int`, 'quantity_get_int', (value: Quantity) => {
    const integer = integerOf(value)
    if (integer === undefined) throw new CelError('cannot convert value to integer')
    return integer
  }),
  define(`${type}::isInteger() -> bool`, 'quantity_is_integer', (value: Quantity) => integerOf(value) !== undefined),
  define(`${type}::add(${type}) -> ${type}`, 'quantity_add', (a: Quantity, b: Quantity) => add(a, b)),
  define(`${type}::add(int) -> ${type}`, 'quantity_add_int', (a: Quantity, b: Int) => add(a, fromInt(b))),
  define(`${type}::sub(${type}) -> ${type}`, 'quantity_sub', (a: Quantity, b: Quantity) => add(a, b, -1n)),
  define(`${type}::sub(int) -> ${type}`, 'quantity_sub_int', (a: Quantity, b: Int) => add(a, fromInt(b), -1n)),
]
