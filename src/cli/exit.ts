/**
 * A command throws this error to end with an exit code, after the command has printed its messages. `main` prints nothing for this error.
 */
export class Exit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
