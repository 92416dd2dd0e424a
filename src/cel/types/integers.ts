/**
 * CEL's int: a signed 64-bit integer. Operations on ints throw on overflow. A safe integer is a `number`, and any other int is a `bigint`.
 * Each int therefore has exactly one representation. JavaScript's `<` and `>` compare both representations correctly.
 */
import { CelError } from './errors.ts'

export type Int = number | bigint

export const maxInt = 2n ** 63n - 1n
export const minInt = -(2n ** 63n)
export const maxUint = 2n ** 64n - 1n

/** Returns true when Go decodes the JSON number as an int64: the number is an integer and fits into 64 bits. */
export function isInt64(value: number | bigint): boolean {
  if (typeof value === 'number' && !Number.isInteger(value)) return false
  const exact = BigInt(value)
  return exact >= minInt && exact <= maxInt
}

/** Returns an int in its JavaScript representation: a `number` if the int is a safe integer, otherwise a `bigint`. */
export function toInt(value: bigint): Int {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
}

/**
 * Returns the value as an int.
 *
 * @throws {CelError} when the value does not fit 64 bits.
 */
export function checkedInt(value: bigint): Int {
  if (value < minInt || value > maxInt) throw new CelError('integer overflow')
  return toInt(value)
}

export function checkedUint(value: bigint): bigint {
  if (value < 0n || value > maxUint) throw new CelError('unsigned integer overflow')
  return value
}

export function addInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return checkedInt(BigInt(a) + BigInt(b))
}

export function subtractInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return checkedInt(BigInt(a) - BigInt(b))
}

export function multiplyInts(a: Int, b: Int): Int {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product === 0 ? 0 : product
  }
  return checkedInt(BigInt(a) * BigInt(b))
}

export function divideInts(a: Int, b: Int): Int {
  if (b === 0) throw new CelError('division by zero')
  return checkedInt(BigInt(a) / BigInt(b))
}

export function remainderOfInts(a: Int, b: Int): Int {
  if (b === 0) throw new CelError('modulus by zero')
  // The remainder of -2^63 divided by -1 is 0. cel-go nevertheless reports an overflow, because the quotient does not fit 64 bits
  // (`cel-go/common/types: overflow.go, moduloInt64Checked`).
  if (a === minInt && b === -1) throw new CelError('integer overflow')
  return toInt(BigInt(a) % BigInt(b))
}

export function negateInt(value: Int): Int {
  return value === 0 ? 0 : typeof value === 'number' ? -value : checkedInt(-value)
}

/** Converts an int to a `number` for use as an index. An int that is not a safe integer is out of range for every list and string. */
export function toIndex(value: Int): number {
  return typeof value === 'number' ? value : value < 0n ? -1 : Number.MAX_SAFE_INTEGER
}

/** Parses a decimal integer like Go's `strconv.ParseInt`; undefined when the string is not an integer or does not fit 64 bits. */
export function parseInt64(text: string): Int | undefined {
  const [, sign, digits] = /^([+-]?)0*([0-9]{1,19})$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n)
  return value < minInt || value > maxInt ? undefined : toInt(value)
}

export function parseUint64(text: string): bigint | undefined {
  const digits = /^0*([0-9]{1,20})$/.exec(text)?.[1]
  if (digits === undefined) return undefined
  const value = BigInt(digits)
  return value > maxUint ? undefined : value
}
