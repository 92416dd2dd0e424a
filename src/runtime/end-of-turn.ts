/**
 * `endOfTurn`: returns a promise that resolves at the end of the current iteration of the event loop. Callers collect work during an
 * iteration, and perform all of this work at the end of the iteration. For example, the store commits all writes of one iteration in one
 * transaction.
 */

let turn: Promise<void> | undefined

/**
 * Returns the promise that resolves at the end of this iteration of the event loop. All calls in the same iteration return the same
 * promise.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) =>
    setImmediate(() => {
      turn = undefined
      resolve()
    }),
  )
  return turn
}
