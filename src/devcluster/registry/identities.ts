/** The random parts of an object's identity. These are the uid and the suffix of a generated name. */
import { newUuid, randomStreams } from '../../runtime/random.ts'

export interface Identities {
  /** Returns a uid for a new object of the type with this storage key. */
  readonly newUid: (storageKey: string) => string
  /** Returns a suffix of five random characters for a generated name. `storageKey` is the storage key of the object's type. */
  readonly randomSuffix: (storageKey: string) => string
}

/** The letters and digits of generated names. Vowels, and digits that resemble vowels, are missing (k8s.io/apimachinery/pkg/util/rand). */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5

/**
 * Returns `Identities` that use random numbers from `random`. Each type has a separate stream of numbers. If all types used one stream, the
 * identity of a Pod would depend on the number of Events that the server has received before.
 */
export function randomIdentities(random: () => number): Identities {
  const streamOf = randomStreams(random)
  return {
    newUid: (storageKey) => newUuid(streamOf(storageKey)),
    randomSuffix(storageKey) {
      const next = streamOf(storageKey)
      return Array.from({ length: suffixLength }, () => suffixAlphabet[Math.floor(next() * suffixAlphabet.length)]).join('')
    },
  }
}
