/** Parses one object of a ConversionReview: in slices if it is large, and not at all if it exceeds the limits. */
import { messageOf } from '../api/errors.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { JsonReader, parseJsonBytes } from '../api/json-reader.ts'
import { maxNesting } from '../schema/depth.ts'
import type { ScannedObject } from './review-scan.ts'
import { MalformedConversionReview } from './review-scan.ts'
import type { TimeSlices } from '../runtime/time-slices.ts'

/**
 * Maximum number of values in one object: an object of 1.5 MiB, the limit of etcd, has this many values when each takes fifteen bytes with
 * its name; objects that people write have fewer. There is a limit because a converter's work on one object cannot be divided into time
 * slices.
 */
export const maxObjectValues = 100_000
/** Above this number of values `JSON.parse` takes longer than a slice. */
const parsedAtOnce = 10_000
/** Number of values that are parsed in about a millisecond. */
const readAtATime = 1000

/** Returns the limit that an object exceeds, as the predicate of a sentence; undefined when it exceeds none. */
export function excessOf({ values, levels }: Pick<ScannedObject, 'values' | 'levels'>): string | undefined {
  if (levels > maxNesting) return `has more than ${maxNesting} levels of nesting`
  return values > maxObjectValues ? `has more than ${maxObjectValues} values (fields and items)` : undefined
}

/** @throws {MalformedConversionReview} when the bytes are not JSON. */
export async function readObject({ index, bytes, values }: ScannedObject, slices: TimeSlices): Promise<JsonObject> {
  try {
    return (values <= parsedAtOnce ? parseJsonBytes(bytes) : await readInSlices(bytes.toString(), slices)) as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new MalformedConversionReview(`request.objects[${index}] of the ConversionReview cannot be read: ${messageOf(error)}.`)
  }
}

async function readInSlices(text: string, slices: TimeSlices): Promise<JsonValue> {
  const reader = new JsonReader(text, { freeze: true })
  while (!reader.read(readAtATime)) await slices.next()
  return reader.value
}
