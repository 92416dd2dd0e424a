/**
 * `endOfTurn`: lets the responses to writes that arrived in the same turn of the event loop be sent together. If each were sent when it is
 * ready, the operating system would wake up a client for each of them, and each client would send its next request alone. With 16 clients,
 * the server takes a quarter less CPU time for a write when it responds to them together.
 */
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
