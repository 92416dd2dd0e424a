/** The error for a patch that cannot be applied. */

export class PatchError extends Error {
  override readonly name = 'PatchError'
  /**
   * The reason determines the status code of kube-apiserver's response:
   *
   * - `malformed`: the patch itself is invalid. The status code is 400.
   * - `failed`: the patch cannot be applied to the object. The status code is 422.
   * - `internal`: any other error of a strategic merge patch. The status code is 500.
   */
  readonly reason: 'malformed' | 'failed' | 'internal'

  constructor(reason: PatchError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
