/** The error with which a promise is rejected, for tests of more than its message. */
export async function rejectionOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error,
  )
}
