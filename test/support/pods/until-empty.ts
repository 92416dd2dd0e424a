/** `untilEmpty`: waits until a function finds no more problems. */
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/api/errors.ts'

/** The time in milliseconds between two calls. */
const pollMs = 100

/**
 * Calls `find` until it returns no problems, and resolves with an empty list. After `limitMs` milliseconds, resolves with the problems of
 * the last call. If the last call throws an error, the error counts as a problem.
 */
export async function untilEmpty(find: () => readonly string[] | Promise<readonly string[]>, limitMs: number): Promise<readonly string[]> {
  const deadline = performance.now() + limitMs
  for (;;) {
    let problems: readonly string[]
    try {
      problems = await find()
    } catch (error) {
      problems = [messageOf(error)]
    }
    if (problems.length === 0 || performance.now() > deadline) return problems
    await delay(pollMs)
  }
}
