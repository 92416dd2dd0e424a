/** The error for a patch that cannot be applied. */

export class PatchError extends Error {
  override readonly name = 'PatchError'
  /**
   * `malformed`: not a valid patch. `failed`: does not apply to the object. `internal`: an error for which kube-apiserver responds with
   * 500.
   */
  readonly reason: 'malformed' | 'failed' | 'internal'

  constructor(reason: PatchError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
