/** `jsonOf`: the JSON of an object, which is made once for an object that cannot change. */
import { stringifyJson } from '../../api/json.ts'
import { memoized } from './memoized.ts'

/**
 * Returns the JSON of an object. The JSON of a frozen object is kept as long as the object, for the responses, lists and watch events with the
 * object, and for the database. A stored object is frozen with all values in it, and a write replaces it by another object. Its JSON is
 * therefore never outdated.
 */
export function jsonOf(object: object): string {
  return Object.isFrozen(object) ? jsonOfFrozen(object) : stringifyJson(object)
}

const jsonOfFrozen = memoized((object: object) => stringifyJson(object))
