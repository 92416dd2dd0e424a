/** `ResponseTooLargeError`: the error of a request whose response exceeds a size limit. */
import { ProreusError } from '../api/errors.ts'
import type { ApiRequest } from './api-request.ts'

/**
 * Thrown when a response has more than `maxResponseBytes`. The connection was closed, and the received bytes were discarded. The error's
 * code is `PRO_API`.
 */
export class ResponseTooLargeError extends ProreusError {
  override readonly name = 'ResponseTooLargeError'

  constructor({ method, path, verb }: Pick<ApiRequest, 'method' | 'path' | 'verb'>, limit: number) {
    const advice = verb === 'list' ? ': read the list with listInPages and a smaller pageSize, or raise the limit' : ''
    super('PRO_API', `The response to ${method} ${path} has more than ${limit} bytes (maxResponseBytes)${advice}.`)
  }
}
