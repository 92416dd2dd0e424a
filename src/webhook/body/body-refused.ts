/**
 * Thrown when the server rejects the body of a request. Usually, the HTTP response has the status `code`. If the server already knows the
 * uid of the AdmissionReview, the response is an AdmissionReview that denies the request.
 */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly code: 400 | 408 | 413 | 429
  constructor(code: BodyRefused['code'], message: string) {
    super(message)
    this.code = code
  }
}
