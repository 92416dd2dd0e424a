/** Waits for conditions inside this process. */

/** Resolves when `condition` returns true. It is checked in every iteration of the event loop, for ten seconds at most. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
