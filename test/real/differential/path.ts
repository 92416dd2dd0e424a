/**
 * Paths into JSON values, such as `metadata.labels["app.kubernetes.io/name"]` or `items[0].spec`. The paths identify captured values and
 * differences.
 */
import type { JsonValue } from '../../../src/api/json.ts'
import { getOwn, isObject } from '../../../src/api/json.ts'

const part = /\.?([^.[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/gy

/**
 * Returns the value at `path`; undefined when there is none.
 *
 * @example
 * valueAt({ items: [{ name: 'a' }] }, 'items[0].name') // 'a'
 */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let found = value
  for (const key of partsOf(path)) {
    if (typeof key === 'number') found = Array.isArray(found) ? found[key] : undefined
    else found = isObject(found) ? getOwn(found, key) : undefined
  }
  return found
}

/** Returns the path of a member of the value at `path`. If the key is not a plain word, the key is quoted. */
export function child(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function partsOf(path: string): (string | number)[] {
  const parts: (string | number)[] = []
  let end = 0
  for (const match of path.matchAll(part)) {
    const [whole, word, index, quoted] = match
    parts.push(index !== undefined ? Number(index) : (word ?? (JSON.parse(`"${quoted!}"`) as string)))
    end = match.index + whole.length
  }
  if (end !== path.length) throw new Error(`not a path: ${path}`)
  return parts
}
