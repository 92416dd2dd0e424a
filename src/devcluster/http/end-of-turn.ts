/**
 * `endOfTurn`: delays the responses to writes until the end of the turn of the event loop in which the requests arrived. The server then
 * sends the responses together. Without the delay, the operating system would wake up one client after the other, and each client would
 * send its next request alone. With 16 clients, the delay reduces the CPU time of the server for a write by a quarter.
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
