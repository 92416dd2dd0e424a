/**
 * The source of random numbers. Code that makes random choices takes a function such as `systemRandom` as a parameter, so tests can repeat
 * the choices. Secrets are an exception: their random bits come from the operating system, and never from such a function.
 */
import { hash, randomBytes } from 'node:crypto'

/** Returns a number in [0, 1). It must not be used for secrets, because a reader of some of these numbers can predict the next numbers. */
export const systemRandom: () => number = () => Math.random()

/** Returns a UUID of version 4 whose 122 random bits come from `random`. The same numbers result in the same UUID. */
export function newUuid(random: () => number): string {
  const words = [random(), random(), random(), random()].map((number) => Math.floor(number * 2 ** 32))
  words[1] = (words[1]! & 0xffff_0fff) | 0x4000 // the version
  words[2] = (words[2]! & 0x3fff_ffff) | 0x8000_0000 // the variant of RFC 9562
  const digits = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
}

/**
 * Creates named streams of random numbers. The returned function returns the generator of the stream with the given name. A second call
 * with the same name returns the same generator, which continues the stream.
 *
 * The numbers of a stream depend only on its name and on four numbers from `random`, which all streams share. With the same four numbers, a
 * task that has its own stream makes the same choices in every run, whatever concurrent tasks do.
 */
export function randomStreams(random: () => number): (name: string) => () => number {
  const seed = newUuid(random)
  const streams = new Map<string, () => number>()
  return (name) => {
    let stream = streams.get(name)
    if (stream === undefined) {
      stream = randomStream(`${seed} ${name}`)
      streams.set(name, stream)
    }
    return stream
  }
}

const hashBytes = 32
const wordBytes = 4

/**
 * Returns a function that returns the next number of a stream. For each value of a counter, `seed` and the counter are hashed with SHA-256.
 * The hash is split into 32-bit words, and each word is divided by 2^32, so each number is in [0, 1).
 */
function randomStream(seed: string): () => number {
  let counter = 0
  let words = Buffer.alloc(0)
  let offset = hashBytes
  return () => {
    if (offset === hashBytes) {
      words = hash('sha256', `${seed} ${counter++}`, 'buffer')
      offset = 0
    }
    const word = words.readUInt32BE(offset)
    offset += wordBytes
    return word / 2 ** 32
  }
}

/**
 * Returns a new bearer token: 256 random bits as base64url, which needs no escaping. The bits come from the operating system. The function
 * has no parameter for a source of random numbers, because a caller could pass a source whose numbers can be predicted, such as
 * `systemRandom`.
 */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}
