/** `httpProbe`: succeeds when a GET request gets a response with a status from 200 to 399. */
import type { ProbeContext } from './probe-context.ts'
import { DeadlineExceeded, withDeadline } from './deadline.ts'
import { ConnectionError } from './dial.ts'
import { httpGet } from './http-get.ts'
import type { HttpGetAction } from './http-request.ts'
import { httpRequestOf } from './http-request.ts'
import type { ProbeOutcome } from './probe-outcome.ts'
import { ProbeError } from './probe-outcome.ts'
import { HttpError } from './send-get.ts'

/** The maximum number of bytes that are read from the body (k8s.io/kubernetes/pkg/probe/http: maxRespBodyLength). */
const maxBodyBytes = 10 * 1024

/**
 * Runs an `httpGet` probe (k8s.io/kubernetes/pkg/probe/http: DoHTTPProbe).
 *
 * @throws {ProbeError} when the request is invalid, or when the body of the response could not be read.
 */
export async function httpProbe(action: HttpGetAction, context: ProbeContext): Promise<ProbeOutcome> {
  const { target, container, timeoutMs, signal: ended } = context
  const request = httpRequestOf(action, { container, address: target.address, purpose: 'probe' })
  const host = action.host || undefined
  try {
    return await withDeadline(timeoutMs, context, async (signal) => {
      const response = await httpGet(request, { target, host, signal })
      return outcomeOf(response.status, await response.readBody(maxBodyBytes))
    })
  } catch (error) {
    ended.throwIfAborted()
    if (error instanceof HttpError) return { kind: 'failure', output: error.message }
    throw bodyError(error)
  }
}

function outcomeOf(status: number, body: string): ProbeOutcome {
  if (status < 200 || status >= 400) return { kind: 'failure', output: `HTTP probe failed with statuscode: ${status}` }
  return status < 300
    ? { kind: 'success', output: body }
    : { kind: 'warning', output: `Probe terminated redirects, Response body: ${body}` }
}

/** Returns the error that is thrown when the body of a response could not be read because of `error`. */
function bodyError(error: unknown): unknown {
  if (error instanceof ConnectionError) return new ProbeError(error.message, { cause: error, state: 'failure' })
  if (!(error instanceof DeadlineExceeded)) return error
  const message = `${error.message} (Client.Timeout or context cancellation while reading body)`
  return new ProbeError(message, { cause: error, state: 'failure' })
}
