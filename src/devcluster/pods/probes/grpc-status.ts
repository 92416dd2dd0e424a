/** `GrpcStatus`: the status of a gRPC call that failed, with the messages of google.golang.org/grpc. */
import { STATUS_CODES } from 'node:http'
import { quote } from '../../../api/field-error.ts'

/** The names of the codes, in the order of their numbers (google.golang.org/grpc/codes). */
const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

export type GrpcCode = (typeof codeNames)[number]

export interface GrpcStatus {
  /** The name of the code, or `Code(99)` for a number without a name. */
  readonly code: string
  readonly message: string
}

export function grpcStatus(code: GrpcCode, message: string): GrpcStatus {
  return { code, message }
}

/** Returns the status for the trailers `grpc-status` and `grpc-message` of a response. Returns undefined for the code OK. */
export function statusOfTrailers(code: string, message: string): GrpcStatus | undefined {
  if (!/^[+-]?\d{1,10}$/.test(code))
    return grpcStatus('Unknown', `transport: malformed grpc-status: strconv.ParseInt: parsing ${quote(code)}: invalid syntax`)
  const number = Number(code)
  if (number === 0) return undefined
  return { code: codeNames[number] ?? `Code(${number})`, message: decodePercents(message) }
}

/** Decodes each `%` that is followed by two hexadecimal digits. Every other `%` is unchanged. */
function decodePercents(message: string): string {
  return message.replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
}

/**
 * The gRPC codes that correspond to HTTP statuses. They are used for responses that are not gRPC
 * (google.golang.org/grpc/internal/transport: HTTPStatusConvTab).
 */
const httpCodes: ReadonlyMap<number, GrpcCode> = new Map([
  [400, 'Internal'],
  [401, 'Unauthenticated'],
  [403, 'PermissionDenied'],
  [404, 'Unimplemented'],
  [429, 'Unavailable'],
  [502, 'Unavailable'],
  [503, 'Unavailable'],
  [504, 'Unavailable'],
])

/** Returns the gRPC status for an HTTP response whose content type is missing or is not the content type of gRPC. */
export function statusOfHttp(status: number, contentType: string | undefined): GrpcStatus {
  const received =
    contentType === undefined
      ? 'malformed header: missing HTTP content-type'
      : `transport: received unexpected content-type ${quote(contentType)}`
  const message = `unexpected HTTP status code received from server: ${status} (${STATUS_CODES[status] ?? ''}); ${received}`
  return grpcStatus(httpCodes.get(status) ?? 'Unknown', message)
}

/**
 * The error codes of HTTP/2 in the order of their numbers (RFC 9113, section 7), each with the corresponding gRPC code
 * (google.golang.org/grpc/internal/transport: http2ErrConvTab).
 */
const resets: readonly (readonly [name: string, code: GrpcCode])[] = [
  ['NO_ERROR', 'Internal'],
  ['PROTOCOL_ERROR', 'Internal'],
  ['INTERNAL_ERROR', 'Internal'],
  ['FLOW_CONTROL_ERROR', 'ResourceExhausted'],
  ['SETTINGS_TIMEOUT', 'Internal'],
  ['STREAM_CLOSED', 'Internal'],
  ['FRAME_SIZE_ERROR', 'Internal'],
  ['REFUSED_STREAM', 'Unavailable'],
  ['CANCEL', 'Canceled'],
  ['COMPRESSION_ERROR', 'Internal'],
  ['CONNECT_ERROR', 'Internal'],
  ['ENHANCE_YOUR_CALM', 'ResourceExhausted'],
  ['INADEQUATE_SECURITY', 'PermissionDenied'],
  ['HTTP_1_1_REQUIRED', 'Internal'],
]

/** Returns the status for a stream that the server has reset. */
export function statusOfReset(errorCode: number): GrpcStatus {
  const [name, code] = resets[errorCode] ?? [`unknown error code 0x${errorCode.toString(16)}`, 'Unknown']
  return grpcStatus(code, `stream terminated by RST_STREAM with error code: ${name}`)
}
