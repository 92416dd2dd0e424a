/** Numbers of YAML documents as Kubernetes reads them. */
import type { ScalarTag, Tags } from 'yaml'

const [minInt64, maxUint64] = [-(2n ** 63n), 2n ** 64n - 1n]
/** The number of characters of the longest integer of 64 bits: a sign, `0b` and 64 binary digits. */
const mostCharacters = 67
const decimal = /^[-+]?\d+$/

/**
 * Returns the tags with numbers as in Go (go.yaml.in/yaml/v2: resolve): a decimal integer beyond 64 bits is a float, and a number beyond
 * the range of a float is a string, as are other integers beyond 64 bits. An integer with too many digits is never given to `BigInt`, whose
 * time grows faster than their number.
 */
export function goNumberTags(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag === 'string' || tag.collection !== undefined) return tag
    if (tag.tag === 'tag:yaml.org,2002:int') return goInteger(tag)
    return tag.tag === 'tag:yaml.org,2002:float' ? goFloat(tag) : tag
  })
}

function goInteger(tag: ScalarTag): ScalarTag {
  return {
    ...tag,
    resolve: (text, onError, options) => {
      const plain = text.replaceAll('_', '')
      if (plain.length <= mostCharacters) {
        const value = tag.resolve(text, onError, { ...options, intAsBigInt: true }) as bigint
        if (value >= minInt64 && value <= maxUint64) return options.intAsBigInt ? value : Number(value)
      }
      return decimal.test(plain) ? finiteOr(text, Number(plain)) : text
    },
  }
}

function goFloat(tag: ScalarTag): ScalarTag {
  return {
    ...tag,
    resolve: (text, onError, options) => {
      const value = tag.resolve(text, onError, options)
      // The names of the infinite floats, such as `.inf`, have no digits.
      return value === Infinity || value === -Infinity ? (/\d/.test(text) ? text : value) : value
    },
  }
}

function finiteOr(text: string, value: number): number | string {
  return Number.isFinite(value) ? value : text
}
