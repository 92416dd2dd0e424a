/** Bodies that are not taken. */

/** What is answered instead: with the code of HTTP, or, where the review has been read that far, as its denial. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly code: 400 | 408 | 413 | 429
  constructor(code: BodyRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}
