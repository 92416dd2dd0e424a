/** `LoadError`: the error that is thrown if the import of an operator's file fails. */
import { ProreusError } from '../api/errors.ts'

export class LoadError extends ProreusError {
  /** The lines of the stack trace that refer to the user's files. */
  readonly frames: readonly string[]

  constructor(message: string, frames: readonly string[], cause: unknown) {
    super('PRO_CONFIG_INVALID', message, { cause })
    this.frames = frames
  }
}
