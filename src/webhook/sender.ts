/** Whether somebody still waits for an answer. */
import type { ServerResponse } from 'node:http'

/** Calls `listener` when the sender goes before it has the whole answer: at once when it has gone already. */
export function whenSenderGoes(response: ServerResponse, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) tell()
  else response.once('close', tell)
}
