/** `refusal`: the error with which the API server refuses a write. */
import { ApiError } from '../../../src/client/api-error.ts'

/**
 * Resolves with the status code of the error of a write, followed by its sorted causes as `field: message`. If the error has no causes, its
 * message replaces them. Only the first line of each text is kept, because kube-apiserver appends diffs of its internal types. Resolves
 * with an empty list when the write succeeds.
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
