/** The error for a rejected body. */

/**
 * Thrown for a rejected body. The response has the HTTP status `code`; if the uid of the review is known, the response is a denial instead.
 */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly code: 400 | 408 | 413 | 429
  constructor(code: BodyRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}
