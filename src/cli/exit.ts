/** Ends a command with an exit code when everything has been said. */
export class Exit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
