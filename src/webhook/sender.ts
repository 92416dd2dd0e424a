/** Detects that the client of a request disconnects, or reads the response slowly. */
import type { ServerResponse } from 'node:http'
import type { Charge } from './body/budget.ts'

/** Calls `listener` when the client disconnects before it has received the whole response: at once if it has already. */
export function whenSenderGoes(response: ServerResponse, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) tell()
  else response.once('close', tell)
}

/** Responses up to this size fit into the kernel's buffers, whether or not the client reads them. */
const fetchedAtOnce = 64 * 1024

/**
 * Charges a large response, which stays in memory until the client has read it. When other requests wait for memory and the client is too
 * slow, the request is aborted.
 *
 * @param more bytes that are not charged yet.
 * @param bytes of the response.
 */
export function awaitFetching(charge: Charge, more: number, bytes: number, response: ServerResponse): void {
  if (bytes <= fetchedAtOnce) return
  if (more > 0) charge.force(more)
  charge.waitsForPeer(() => response.destroy())
}
