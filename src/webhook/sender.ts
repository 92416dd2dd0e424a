/** Whether somebody still waits for an answer, and fetches it. */
import type { ServerResponse } from 'node:http'
import type { Charge } from './body/budget.ts'

/** Calls `listener` when the sender goes before it has the whole answer: at once when it has gone already. */
export function whenSenderGoes(response: ServerResponse, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) tell()
  else response.once('close', tell)
}

/** Answers up to this size go into the buffers of the kernel, whether or not somebody fetches them. */
const fetchedAtOnce = 64 * 1024

/**
 * Counts a large answer, which stays in memory until its sender has fetched it; others that wait for memory do not wait for that for long.
 *
 * @param more bytes that are not counted yet.
 * @param bytes of the answer.
 */
export function awaitFetching(charge: Charge, more: number, bytes: number, response: ServerResponse): void {
  if (bytes <= fetchedAtOnce) return
  if (more > 0) charge.force(more)
  charge.waitsForPeer(() => response.destroy())
}
