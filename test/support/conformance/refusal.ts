/** `refusal`: the error with which the API server refuses a write. */
import { ApiError } from '../../../src/client/api-error.ts'

/**
 * Resolves with a list: the status code of the error, followed by the sorted causes in the form `field: message`. If the error has no
 * causes, the message of the error follows the status code. If the write succeeds, the list is empty.
 *
 * Only the first line of each text is kept, because kube-apiserver appends diffs of its internal types.
 */
export async function refusal(write: Promise<unknown>): Promise<(number | string)[]> {
  try {
    await write
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { statusCode, message, causes, status } = error
    const texts = causes.map((cause) => `${cause.field}: ${cause.message}`)
    const shown = texts.length === 0 ? [status.message ?? message] : texts.sort()
    return [statusCode, ...shown.map((text) => text.split('\n')[0]!)]
  }
}
