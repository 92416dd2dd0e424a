/** The query parameter `timeout`, the time limit of a request (k8s.io/apiserver/pkg/endpoints/filters: WithRequestDeadline). */
import { readGoDuration } from '../../formats/go-duration.ts'
import { badRequest } from '../apimachinery/status-error.ts'

/**
 * Default and maximum duration of a write in milliseconds (k8s.io/apiserver/pkg/endpoints/handlers: requestTimeoutUpperBound). A client can
 * request a shorter duration with the parameter `timeout`.
 */
const maxWriteMs = 34_000

/**
 * Returns the time limit of a write in milliseconds.
 *
 * @throws {StatusError} 400 when the parameter `timeout` of the query is not a duration in Go's notation.
 */
export function timeoutOf(query: URLSearchParams): number {
  const text = query.get('timeout') ?? ''
  if (text === '') return maxWriteMs
  const { nanos, error } = readGoDuration(text)
  if (nanos === undefined) throw badRequest(`invalid timeout specified in the request URL - ${error}`)
  const ms = Number(nanos) / 1e6
  return ms > 0 ? Math.min(ms, maxWriteMs) : maxWriteMs
}
