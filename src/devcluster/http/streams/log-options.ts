/** Decodes and validates the query parameters of a request for a log (k8s.io/api/core/v1: PodLogOptions). */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, invalid, notSupported, quote } from '../../../api/field-error.ts'
import { parseZonedTime } from '../../../api/go-time.ts'
import { badRequest, invalidObject, notANumber } from '../../apimachinery/status-error.ts'
import type { LogOptions } from '../../rest/container-access.ts'
import { flag } from '../request-info.ts'

const streams = ['Stdout', 'Stderr', 'All']
const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Returns the options of a request for the log of a Pod. `insecureSkipTLSVerifyBackend` has no effect, because no TLS connection to a node
 * is needed.
 *
 * @param now the current time in milliseconds since 1970; `sinceSeconds` counts back from this time
 * @throws {StatusError} 400 when a parameter cannot be decoded, 422 when a parameter is invalid
 */
export function logOptions(query: URLSearchParams, podName: string, now: number): LogOptions {
  const tailLines = integerOf(query, 'tailLines')
  const limitBytes = integerOf(query, 'limitBytes')
  const sinceSeconds = integerOf(query, 'sinceSeconds')
  const sinceTime = timeOf(query, 'sinceTime')
  const stream = query.get('stream') ?? 'All'
  const errors = optionErrors({ tailLines, limitBytes, sinceSeconds, hasSinceTime: sinceTime !== undefined, stream })
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, podName, errors)
  const since = sinceSeconds === undefined ? sinceTime : now - sinceSeconds * 1000
  return {
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { since }),
    ...(stream === 'Stdout' || stream === 'Stderr' ? { stream } : {}),
  }
}

interface Decoded {
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
  readonly sinceSeconds: number | undefined
  readonly hasSinceTime: boolean
  readonly stream: string
}

/** Returns the errors of the options (k8s.io/kubernetes/pkg/apis/core/validation: ValidatePodLogOptions). */
function optionErrors({ tailLines, limitBytes, sinceSeconds, hasSinceTime, stream }: Decoded): FieldError[] {
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0) errors.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'))
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalid('limitBytes', limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && hasSinceTime)
    errors.push(forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (sinceSeconds !== undefined && sinceSeconds < 1) errors.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'))
  if (!streams.includes(stream)) errors.push(notSupported('stream', stream, streams))
  if (stream !== 'All' && tailLines !== undefined)
    errors.push(forbidden('', '`tailLines` and specific `stream` are mutually exclusive for now'))
  return errors
}

/** Decodes an int64 (k8s.io/apimachinery/pkg/runtime: Convert_Slice_string_To_Pointer_int64). */
function integerOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(notANumber('ParseInt', text))
  const value = text.length > 20 ? maxInt64 + 1n : BigInt(text.replace('+', ''))
  if (value < minInt64 || value > maxInt64) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: value out of range`)
  return Number(value)
}

/**
 * Decodes a time (k8s.io/apimachinery/pkg/apis/meta/v1: Time.UnmarshalQueryParameter). Returns milliseconds since 1970. For an empty
 * parameter, Go returns the zero time, and this function returns 0. Both times select all lines of a log.
 */
function timeOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (text === '' || text === 'null') return 0
  const time = parseZonedTime(text)
  if (typeof time === 'string') throw badRequest(time)
  return time.seconds * 1000 + time.nanos / 1e6
}
