/**
 * What an enum allows. The API server converts the value to the Go type of each listed one before it compares
 * (kube-openapi, `validate.Enum`): a number loses its fraction beside an integer, and becomes a character beside a text.
 */
import type { JsonValue } from '../api/json.ts'
import { jsonEqual } from '../api/json.ts'

export function isInEnum(values: readonly JsonValue[], value: JsonValue): boolean {
  return values.some((allowed) => jsonEqual(allowed, value) || (typeof value === 'number' && isConverted(value, allowed)))
}

/** Whether equality alone would say no where the API server says yes. */
export function convertsForEnum(values: readonly JsonValue[], types: readonly string[]): boolean {
  const takes = (type: string): boolean => types.length === 0 || types.includes(type)
  if (takes('number') && values.some((allowed) => Number.isInteger(allowed))) return true
  return (takes('number') || takes('integer')) && values.some((allowed) => typeof allowed === 'string' && isCharacter(allowed))
}

function isConverted(value: number, allowed: JsonValue): boolean {
  if (typeof allowed === 'number') return Number.isInteger(allowed) && Math.trunc(value) === allowed
  return typeof allowed === 'string' && isCharacter(allowed) && Number.isInteger(value) && characterOf(value) === allowed
}

function isCharacter(text: string): boolean {
  return text !== '' && text.length <= 2 && [...text].length === 1
}

/** As Go's conversion of an integer to a string. */
function characterOf(code: number): string {
  const isScalar = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isScalar ? String.fromCodePoint(code) : '\ufffd'
}
