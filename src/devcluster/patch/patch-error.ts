/** Why a patch could not be applied. */

export class PatchError extends Error {
  override readonly name = 'PatchError'
  /** `malformed`: the patch is no patch. `failed`: it does not fit the object. `internal`: the API server has no better answer than 500. */
  readonly reason: 'malformed' | 'failed' | 'internal'

  constructor(reason: PatchError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
