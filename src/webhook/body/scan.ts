/** One pass over the bytes of an AdmissionReview before anything is parsed: how much there is in it, and where its objects are. */

/** Where something stands in the bytes; `end` is behind it. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Why a body is refused unread. */
export interface Excess {
  readonly what: 'levels' | 'values'
  readonly limit: number
}

export interface BodyLimits {
  readonly levels: number
  readonly values: number
}

const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Counts what opens and what commas part. It knows nothing of grammar: what is no JSON is for the parser to refuse.
 * `advance` goes through as many bytes as it is told to, so that the event loop is free in between.
 */
export class BodyScan {
  readonly #bytes: Buffer
  readonly #limits: BodyLimits
  #at = 0
  #level = 0
  #inText = false
  /** Whether a text that begins now is a name, and not a value; known for the outer two levels alone. */
  #atName = true
  #textStart = 0
  /** Where the value begins that the outer two levels are at; -1: it is no object. */
  #objectStart = -1
  /** The names that the outer levels are at. */
  readonly #names = ['', '', '']
  /** How many values there are, containers counted. */
  values = 0
  excess: Excess | undefined
  /** The request's uid, as long as it needs no decoding. */
  uid: string | undefined
  object: Range | undefined
  oldObject: Range | undefined

  constructor(bytes: Buffer, limits: BodyLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  /** Goes on for `count` bytes; true at the end, or when a limit is exceeded. */
  advance(count: number): boolean {
    const bytes = this.#bytes
    const end = Math.min(this.#at + count, bytes.length)
    let at = this.#at
    if (this.#inText) at = this.#text(at, end)
    while (at < end) {
      switch (bytes[at]) {
        case quote:
          this.#textStart = at + 1
          at = this.#text(at + 1, end)
          continue
        case openBrace:
        case openBracket:
          if (!this.#open(at)) return true
          break
        case closeBrace:
        case closeBracket:
          this.#close(at)
          break
        case comma:
          this.values += 1
          if (this.#level <= 2) this.#atName = true
          if (this.values > this.#limits.values) {
            this.excess = { what: 'values', limit: this.#limits.values }
            return true
          }
          break
        default:
      }
      at += 1
    }
    this.#at = at
    return at >= bytes.length
  }

  /** Goes to the end of a text that began before `from`, or to `end`. */
  #text(from: number, end: number): number {
    const bytes = this.#bytes
    let at = from
    for (; at < end; at += 1) {
      const code = bytes[at]
      if (code === quote) break
      if (code === backslash) at += 1
    }
    this.#inText = at >= end
    if (this.#inText) return at
    if (this.#level <= 2) this.#outerText(this.#textStart, at)
    return at + 1
  }

  #outerText(start: number, end: number): void {
    // The longest name that is of interest has nine letters, a uid 36.
    const text = end - start <= 64 ? this.#bytes.toString('latin1', start, end) : ''
    if (this.#atName) this.#names[this.#level] = text
    else if (this.#level === 2 && this.#names[1] === 'request' && this.#names[2] === 'uid') this.uid = plain(text)
    this.#atName = false
  }

  #open(at: number): boolean {
    this.values += 1
    this.#level += 1
    if (this.#level <= 3) {
      this.#atName = this.#bytes[at] === openBrace
      if (this.#level === 3) this.#objectStart = this.#atName ? at : -1
      else this.#names[this.#level] = ''
    }
    if (this.#level <= this.#limits.levels) return true
    this.excess = { what: 'levels', limit: this.#limits.levels }
    return false
  }

  #close(at: number): void {
    this.#level -= 1
    if (this.#level !== 2 || this.#names[1] !== 'request') return
    const name = this.#names[2]
    if (this.#objectStart >= 0 && (name === 'object' || name === 'oldObject')) this[name] = { start: this.#objectStart, end: at + 1 }
  }
}

function plain(text: string): string | undefined {
  return /^[\x20-\x7e]+$/.test(text) && !text.includes('\\') ? text : undefined
}
