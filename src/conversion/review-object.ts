/** One object of a ConversionReview: read in slices where it is large, and not at all where it holds too much. */
import { messageOf } from '../api/errors.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { JsonReader, parseJsonBytes } from '../api/json-reader.ts'
import { maxNesting } from '../schema/depth.ts'
import type { ScannedObject } from './review-scan.ts'
import { MalformedConversionReview } from './review-scan.ts'
import type { Turns } from './turns.ts'

/**
 * What an object of 1.5 MiB, the limit of etcd, has when each value takes fifteen bytes with its name: fewer than the objects that people
 * write have for their size. A converter gets the object whole, so that all of it is converted in a few goes.
 */
export const maxObjectValues = 100_000
/** `JSON.parse` of more takes longer than a slice may. */
const parsedAtOnce = 10_000
/** A millisecond's worth. */
const readAtATime = 1000

/** Says of which there is too much in an object. */
export function excessOf({ values, levels }: Pick<ScannedObject, 'values' | 'levels'>): string | undefined {
  if (levels > maxNesting) return `has more than ${maxNesting} levels of nesting`
  return values > maxObjectValues ? `has more than ${maxObjectValues} values (fields and items)` : undefined
}

/** @throws {MalformedConversionReview} when it is no JSON. */
export async function readObject({ index, bytes, values }: ScannedObject, turns: Turns): Promise<JsonObject> {
  try {
    return (values <= parsedAtOnce ? parseJsonBytes(bytes) : await readInSlices(bytes.toString(), turns)) as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new MalformedConversionReview(`request.objects[${index}] of the ConversionReview cannot be read: ${messageOf(error)}.`)
  }
}

async function readInSlices(text: string, turns: Turns): Promise<JsonValue> {
  const reader = new JsonReader(text, { freeze: true })
  while (!reader.read(readAtATime)) if (turns.due) await turns.give()
  return reader.value
}
