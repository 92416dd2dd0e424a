/** `endOfTurn`: lets work that arises in the same turn of the event loop be done together. */

let turn: Promise<void> | undefined

/** Returns the promise that resolves at the end of this turn. All calls in the same turn return the same promise. */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) =>
    setImmediate(() => {
      turn = undefined
      resolve()
    }),
  )
  return turn
}
