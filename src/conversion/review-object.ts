/**
 * Parses one object of a ConversionReview. A large object is parsed in time slices, and an object that exceeds the limits is not parsed.
 */
import { messageOf } from '../api/errors.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { JsonReader, parseJsonBytes } from '../api/json-reader.ts'
import { maxNesting } from '../schema/depth.ts'
import type { ScannedObject } from './review-scan.ts'
import { MalformedConversionReview } from './review-scan.ts'
import type { TaskSlices } from '../runtime/time-slices.ts'

/**
 * Maximum number of fields and items in one object. The work of a converter on one object cannot be divided into time slices, so a larger
 * object could block the event loop. An object of 1.5 MiB, the limit of etcd, reaches this maximum if each field or item takes 15 bytes,
 * including its name. Hand-written objects have fewer fields and items.
 */
export const maxObjectValues = 100_000
/** An object with more fields and items than this is parsed in slices, because `JSON.parse` would take longer than a time slice. */
const parsedAtOnce = 10_000
/** Number of fields and items that are parsed in about a millisecond. */
const readAtATime = 1000

/** Returns which limit an object exceeds, e.g. `has more than 100000 values (fields and items)`; undefined when it exceeds none. */
export function excessOf({ values, levels }: Pick<ScannedObject, 'values' | 'levels'>): string | undefined {
  if (levels > maxNesting) return `has more than ${maxNesting} levels of nesting`
  return values > maxObjectValues ? `has more than ${maxObjectValues} values (fields and items)` : undefined
}

/**
 * Parses an object of a ConversionReview, in time slices if it is large.
 *
 * @throws {MalformedConversionReview} when the bytes are not JSON.
 */
export async function readObject({ index, bytes, values }: ScannedObject, slices: TaskSlices): Promise<JsonObject> {
  try {
    return (values <= parsedAtOnce ? parseJsonBytes(bytes) : await readInSlices(bytes.toString(), slices)) as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new MalformedConversionReview(`request.objects[${index}] of the ConversionReview cannot be read: ${messageOf(error)}.`)
  }
}

async function readInSlices(text: string, slices: TaskSlices): Promise<JsonValue> {
  const reader = new JsonReader(text, { freeze: true })
  while (!reader.read(readAtATime)) await slices.next()
  return reader.value
}
