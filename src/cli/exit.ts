/** A command prints its messages, and then throws this error to end with an exit code. `main` prints nothing for this error. */
export class Exit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
