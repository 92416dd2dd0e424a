/** Waiting for what happens in this process. */

/** Waits, without a timer, until `condition` holds. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
