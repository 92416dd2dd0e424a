/** Limits the nesting of objects. Without a limit, a deeply nested object could exhaust the stack in a recursive function. */
import type { FieldError } from '../api/field-error.ts'
import { invalid } from '../api/field-error.ts'
import { fieldOf } from '../api/field-path.ts'

/**
 * Maximum depth of a value whose schema does not limit the depth. (kube-apiserver's decoder allows 10,000 levels in total.) The call stack
 * of Node.js has room for about 10,000 small frames, and a recursive function takes up to three frames for each level.
 */
export const maxNesting = 1000

/** Returns true if objects and arrays are nested deeper than `limit` levels. */
export function isDeeperThan(value: unknown, limit = maxNesting): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isDeeperThan(value[index], limit - 1)) return true
    return false
  }
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], limit - 1)) return true
  return false
}

export function tooDeep(path: string, value: unknown): FieldError {
  return invalid(fieldOf(path), Array.isArray(value) ? 'array' : 'object', `must not be nested deeper than ${maxNesting} levels`)
}
