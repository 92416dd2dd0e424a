/**
 * `endOfTurn`: returns a promise that resolves at the end of the current iteration of the event loop. Callers use this function to do the
 * work of one iteration together.
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
