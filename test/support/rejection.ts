/** Returns the error with which a promise is rejected, for tests that compare more than its message. */
export async function rejectionOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error,
  )
}
