/** The error for a patch that cannot be applied. */

export class PatchError extends Error {
  override readonly name = 'PatchError'
  /**
   * `malformed`: the patch itself is invalid. `failed`: the patch cannot be applied to the object. `internal`: kube-apiserver responds with
   * 500.
   */
  readonly reason: 'malformed' | 'failed' | 'internal'

  constructor(reason: PatchError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
