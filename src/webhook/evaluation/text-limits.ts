/**
 * Limits the number of values and of nesting levels in a review. The limits are checked before the JSON is parsed, because parsed values
 * take ten times the memory of their JSON.
 */
import { ValueScan } from '../../api/json-bytes.ts'
import { maxNesting } from '../../schema/depth.ts'

/**
 * The limits of a review. `levels` is the nesting limit of the schema validation, plus the levels of the AdmissionReview around the object.
 * `values` is the number of values in two objects of 1.5 MiB (the limit of etcd), if each value with its name takes six bytes.
 */
const textLimits = { levels: maxNesting + 10, values: 500_000 } as const

/**
 * Returns the limit that the JSON exceeds, e.g. `500000 values`; undefined when it exceeds none. Only brackets and commas are counted.
 * Invalid JSON is detected later by the parser.
 */
export function excessOf(bytes: Uint8Array, limits: Readonly<Record<'levels' | 'values', number>> = textLimits): string | undefined {
  const { values, levels } = new ValueScan().scan(bytes, 0, bytes.length, limits.values, limits.levels)
  if (levels > limits.levels) return `${limits.levels} levels`
  return values > limits.values ? `${limits.values} values` : undefined
}
