/** The error for a rejected body. */

/** Carries the response: an HTTP status or, if the review's uid is known, a denial. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly code: 400 | 408 | 413 | 429
  constructor(code: BodyRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}
