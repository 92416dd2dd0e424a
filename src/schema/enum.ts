/**
 * Validates `enum`. Before kube-apiserver compares a value with an allowed value, it converts the value to the Go type of the allowed value
 * (kube-openapi `validate.Enum`):
 *
 * - If the allowed value is an integer, a float is truncated.
 * - If the allowed value is a string, an integer is converted to the character with this code point.
 */
import type { JsonValue } from '../api/json.ts'
import { jsonEqual } from '../api/json.ts'
import { isInteger } from './numbers.ts'

export function isInEnum(values: readonly JsonValue[], value: JsonValue): boolean {
  return values.some((allowed) => jsonEqual(allowed, value) || (isNumber(value) && isConverted(value, allowed)))
}

/**
 * Returns true if kube-apiserver could accept a value that differs from all allowed values of an enum. This is possible because
 * kube-apiserver converts the value to the Go type of each allowed value before the comparison.
 *
 * @param values the allowed values of the enum.
 * @param types the types that the schema allows; empty if the schema allows any type.
 */
export function convertsForEnum(values: readonly JsonValue[], types: readonly string[]): boolean {
  if (values.some((allowed) => typeof allowed === 'bigint')) return true
  const takes = (type: string): boolean => types.length === 0 || types.includes(type)
  if (takes('number') && values.some((allowed) => Number.isInteger(allowed))) return true
  return (takes('number') || takes('integer')) && values.some((allowed) => typeof allowed === 'string' && isCharacter(allowed))
}

function isNumber(value: JsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isConverted(value: number | bigint, allowed: JsonValue): boolean {
  if (typeof allowed === 'string') return isCharacter(allowed) && isWhole(value) && characterOf(value) === allowed
  if (!isNumber(allowed)) return false
  if (isInteger(allowed)) return BigInt(allowed) === (typeof value === 'bigint' ? value : BigInt(Math.trunc(value)))
  return typeof value === 'bigint' && Number(value) === allowed
}

function isWhole(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value)
}

function isCharacter(text: string): boolean {
  return text !== '' && text.length <= 2 && [...text].length === 1
}

/** Converts an integer to a string as Go does: to the character with this code point. */
function characterOf(code: number | bigint): string {
  const isScalar = typeof code === 'number' && code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isScalar ? String.fromCodePoint(code) : '\ufffd'
}
