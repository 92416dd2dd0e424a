/**
 * Counts the values and nesting levels in the text of a review before it is parsed, because values take ten times the memory of their text.
 */
import { maxNesting } from '../../schema/depth.ts'

/**
 * Nesting: the limit of the schema engine, with room for the envelope. Values: two objects of 1.5 MiB, the limit of etcd, with six bytes
 * for each value and its name.
 */
const textLimits = { levels: maxNesting + 10, values: 500_000 } as const

const quote = 0x22
const backslash = 0x5c

/** Returns which limit is exceeded. It counts brackets and commas; invalid JSON is left to the parser. */
export function excessOf(bytes: Uint8Array, limits: Readonly<Record<'levels' | 'values', number>> = textLimits): string | undefined {
  let values = 0
  let level = 0
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        for (at += 1; at < bytes.length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1
        break
      // { and [
      case 0x7b:
      case 0x5b:
        values += 1
        level += 1
        if (level > limits.levels) return `${limits.levels} levels`
        break
      // } and ]
      case 0x7d:
      case 0x5d:
        level -= 1
        break
      // ,
      case 0x2c:
        values += 1
        break
      default:
    }
    if (values > limits.values) return `${limits.values} values`
  }
  return undefined
}
