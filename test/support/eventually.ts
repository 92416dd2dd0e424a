/** Waits for conditions inside this process. */

/**
 * Checks `condition` in every iteration of the event loop. Resolves when `condition` returns true. Rejects if `condition` has not returned
 * true within ten seconds.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
