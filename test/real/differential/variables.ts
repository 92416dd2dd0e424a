/** Substitutes `${name}` in scenarios. The values are captured from responses or defined in the scenario. */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { getOwn, isObject, setOwn } from '../../../src/api/json.ts'

/**
 * Returns a copy of `value` in which the placeholders in all strings and keys are replaced:
 *
 * - If a string consists only of `${name}`, `values[name]` replaces the string. `values[name]` can have any type.
 * - In a longer string, the text of `values[name]` replaces `${name}`. If `values[name]` is not a string, its text is its JSON.
 * - `${x*N}` becomes N times the character `x`, which can be any character.
 *
 * @throws {Error} when `values` has no entry for the name in a placeholder.
 */
export function substitute(value: JsonValue, values: JsonObject): JsonValue {
  if (typeof value === 'string') return inText(value, values)
  if (Array.isArray(value)) return value.map((item) => substitute(item, values))
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) setOwn(result, String(inText(key, values)), substitute(item ?? null, values))
  return result
}

function inText(text: string, values: JsonObject): JsonValue {
  const whole = /^\$\{([^}*]+)\}$/.exec(text)
  if (whole !== null) return substitute(lookUp(whole[1]!, values), values)
  return text.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => {
    const repeated = /^(.)\*(\d+)$/.exec(name)
    if (repeated !== null) return repeated[1]!.repeat(Number(repeated[2]))
    const value = substitute(lookUp(name, values), values)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function lookUp(name: string, values: JsonObject): JsonValue {
  const value = getOwn(values, name)
  if (value === undefined) throw new Error(`there is no value \${${name}}`)
  return value
}
