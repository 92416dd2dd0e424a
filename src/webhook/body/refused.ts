/** Bodies that are not taken. */

/** What is answered instead: as the denial of the review that it is, where its `uid` is known, else with the code of HTTP. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly code: 400 | 408 | 413 | 429
  readonly uid: string | undefined
  constructor(code: BodyRefused['code'], message: string, uid?: string) {
    super(message)
    this.code = code
    this.uid = uid
  }
}
