/** Returns the error with which a promise is rejected. Tests use it to compare more than the message. */
export async function rejectionOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error,
  )
}
