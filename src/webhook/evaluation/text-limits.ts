/**
 * Counts the values and nesting levels of a review in its JSON before it is parsed, because parsed values take ten times the memory of
 * their JSON.
 */
import { scanValue } from '../../api/json-bytes.ts'
import { maxNesting } from '../../schema/depth.ts'

/**
 * `levels`: the limit of the schema engine, with room for the envelope. `values`: two objects of 1.5 MiB, the limit of etcd, with six bytes
 * for each value and its name.
 */
const textLimits = { levels: maxNesting + 10, values: 500_000 } as const

/**
 * Returns the limit that is exceeded, e.g. `500000 values`; undefined when none is. Only brackets and commas are counted; the parser
 * detects invalid JSON.
 */
export function excessOf(bytes: Uint8Array, limits: Readonly<Record<'levels' | 'values', number>> = textLimits): string | undefined {
  const { values, levels } = scanValue(bytes, 0, bytes.length, limits)
  if (levels > limits.levels) return `${limits.levels} levels`
  return values > limits.values ? `${limits.values} values` : undefined
}
