/** Shrinks a value for which the real API server and Proreus give different results. */
import type { JsonValue } from '../../src/api/json.ts'
import { canonicalJson, getOwn, isObject } from '../../src/api/json.ts'
import { withField } from './values.ts'

/** Returns a line for each difference between the result of the real API server for `value` and the result of Proreus for `value`. */
export type Compare<Value> = (value: Value) => Promise<readonly string[]>

/**
 * Searches for a smaller value for which `compare` reports a difference of the same kind as one of the differences in `lines`. A smaller
 * value lacks items or fields of `value`. Returns the smallest value found. If no smaller value is found, returns `value`.
 *
 * @param lines the differences that `compare` has reported for `value`.
 * @param tries the maximum number of calls of `compare`.
 */
export async function shrink<Value extends JsonValue>(
  value: Value,
  lines: readonly string[],
  compare: Compare<Value>,
  tries = 300,
): Promise<Value> {
  let best = value
  for (let left = tries; ;) {
    const candidates = simpler(best).sort((a, b) => canonicalJson(a).length - canonicalJson(b).length) as Value[]
    let next: Value | undefined
    for (const candidate of candidates) {
      if (left-- <= 0) return best
      if (!isAlike(lines, await compare(candidate))) continue
      next = candidate
      break
    }
    if (next === undefined) return best
    best = next
  }
}

/** Returns simpler values, each of which lacks one item or field. */
function simpler(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index): JsonValue[] => [value.toSpliced(index, 1), ...simpler(item).map((one) => value.with(index, one))])
  }
  if (!isObject(value)) return []
  return Object.keys(value).flatMap((key) => [
    withField(value, key, undefined),
    ...simpler(getOwn(value, key)!).map((one) => withField(value, key, one)),
  ])
}

/** Each line describes one difference. Returns true when a difference in `lines` has the same kind as a difference in `others`. */
function isAlike(lines: readonly string[], others: readonly string[]): boolean {
  const kinds = new Set(lines.map(kindOf))
  return others.some((line) => kinds.has(kindOf(line)))
}

/** Returns the kind of the difference in the line: the line without values, numbers and paths. */
function kindOf(line: string): string {
  return line.replaceAll(/"(\\.|[^"\\])*"/g, '""').replaceAll(/\S*[.[\d]\S*/g, '')
}
