/** `jsonOf`: encodes objects as JSON, and caches the JSON of frozen objects. */
import { stringifyJson } from '../../api/json.ts'
import { memoized } from './memoized.ts'

/**
 * Returns the JSON of an object. The JSON of a frozen object is cached as long as the object exists. Responses, lists, watch events and the
 * database use the cached JSON. A stored object is deeply frozen, and a write replaces it with a new object. The cached JSON is therefore
 * never outdated.
 */
export function jsonOf(object: object): string {
  return Object.isFrozen(object) ? jsonOfFrozen(object) : stringifyJson(object)
}

const jsonOfFrozen = memoized((object: object) => stringifyJson(object))
