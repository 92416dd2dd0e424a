/** Waiting for conditions inside this process. */

/** Resolves when `condition` holds, which is checked on every turn of the event loop. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met in time')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
