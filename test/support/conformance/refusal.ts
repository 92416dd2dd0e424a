/** `refusal`: the error with which the API server refuses a write. */
import { ApiError } from '../../../src/client/api-error.ts'

/**
 * Resolves with the status code and the sorted causes of the error of a write, each cause as `field: message`. An error without causes has
 * its message instead. Of each text only the first line is kept: kube-apiserver appends diffs of its internal types. Resolves with an empty
 * list when the write succeeds.
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
