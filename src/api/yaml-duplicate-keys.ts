/** `duplicateKeyOf`: finds a duplicate key of a YAML document in linear time. */
import type { Document } from 'yaml'
import { isScalar, visit } from 'yaml'

/** A key that occurs twice in one map. */
export interface DuplicateKey {
  readonly key: string
  /** The position of the second occurrence in the text of the document, in characters. */
  readonly offset: number
}

/**
 * Returns the first duplicate key of a document; undefined when all keys are unique. The document must have been parsed with `uniqueKeys:
 * false`. With `uniqueKeys: true`, the parser would compare each key with all other keys of the map, which takes 12 s for 40,000 keys.
 */
export function duplicateKeyOf(document: Document.Parsed): DuplicateKey | undefined {
  let found: DuplicateKey | undefined
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (keys.has(key.value)) {
          found = { key: String(key.value), offset: key.range?.[0] ?? 0 }
          return visit.BREAK
        }
        keys.add(key.value)
      }
      return undefined
    },
  })
  return found
}
