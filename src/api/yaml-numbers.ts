/** `goNumberTags`: parses the numbers of YAML documents as Kubernetes does. */
import type { ScalarTag, Tags } from 'yaml'

const [minInt64, maxUint64] = [-(2n ** 63n), 2n ** 64n - 1n]
/** Maximum number of characters of an integer of 64 bits: a sign, `0b` and 64 binary digits. */
const mostCharacters = 67
const decimal = /^[-+]?\d+$/

/**
 * Returns the YAML tags with Go's rules for large numbers (go.yaml.in/yaml/v2: resolve):
 *
 * - A decimal integer that does not fit into 64 bits becomes a float.
 * - An integer of another base that does not fit into 64 bits becomes a string.
 * - A decimal number beyond the range of a float becomes a string.
 *
 * An integer of more than `mostCharacters` characters counts as too large. `BigInt` is not called for such an integer, because the call
 * could take long.
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
      // An infinite value has one of two causes. A text without digits is a name of infinity, such as `.inf`. A text with digits is a
      // number beyond the range of a float.
      return value === Infinity || value === -Infinity ? (/\d/.test(text) ? text : value) : value
    },
  }
}

function finiteOr(text: string, value: number): number | string {
  return Number.isFinite(value) ? value : text
}
