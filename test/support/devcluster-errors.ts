/** What a promise is rejected with, for tests that look at more than its message. */
export async function rejectionOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (error: unknown) => error,
  )
}
