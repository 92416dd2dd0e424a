/** Processes a ConversionReview of `apiextensions.k8s.io/v1`, from the bytes of the request to the serialized response. */
import { messageOf } from '../api/errors.ts'
import { groupKindOf, parseApiVersion } from '../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { isObject, shownInBrief, stringifyJson } from '../api/json.ts'
import { formatKey } from '../api/object.ts'
import { failure } from '../api/status.ts'
import type { ConversionCall, ObjectConverter } from './converter.ts'
import { facts } from './converter.ts'
import { excessOf, readObject } from './review-object.ts'
import type { ObjectList } from './review-scan.ts'
import { MalformedConversionReview, identityOf, scanReview } from './review-scan.ts'
import type { TaskSlices } from '../runtime/time-slices.ts'

/** A ConversionReview whose objects are not parsed yet. */
export interface ConversionRequest {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly body: Buffer
  readonly objects: ObjectList
}

/**
 * The response to a ConversionReview, as JSON. `pieces` are written one after the other. They are buffers, because buffers do not count
 * toward the limit of the JavaScript heap.
 */
export interface ConversionAnswer {
  readonly pieces: readonly Buffer[]
  readonly failed: boolean
}

/**
 * Maximum number of failed objects that are named in the response. Further failed objects are only counted. The failures of the named
 * objects are also logged as errors.
 */
const maxNamed = 3
/**
 * After this number of failures, the remaining objects are not converted. Formatting the errors of millions of objects would take longer
 * than converting the objects.
 */
const maxFailed = 1000
/** Number of bytes that are scanned in about a millisecond. */
const scannedAtOnce = 512 * 1024
/** Minimum length of a piece of the response, in UTF-16 units. Shorter pieces are joined, because each write takes time. */
const pieceLength = 64 * 1024

/**
 * Parses the envelope of a ConversionReview. The function locates the objects in the body, and does not parse them.
 *
 * @throws {MalformedConversionReview} when the body is not a ConversionReview.
 */
export async function decodeConversionReview(body: Buffer | undefined, slices: TaskSlices): Promise<ConversionRequest> {
  if (body === undefined || body.length === 0)
    throw new MalformedConversionReview('The request has no body: a ConversionReview is expected.')
  // The scan of one large object may take a whole time slice. If several large ConversionReviews arrive in the same iteration of the event
  // loop, the scan of each must begin in a separate iteration. Therefore, the scan of a ConversionReview of more than `scannedAtOnce` bytes
  // waits for a new time slice.
  if (body.length > scannedAtOnce) await slices.renew()
  const { envelope, objects } = await scanReview(body, slices)
  if (!isObject(envelope) || envelope.kind !== 'ConversionReview')
    throw new MalformedConversionReview('The body is not a ConversionReview.')
  if (envelope.apiVersion !== 'apiextensions.k8s.io/v1') {
    const found = shownInBrief(envelope.apiVersion)
    throw new MalformedConversionReview(`The apiVersion of the ConversionReview is ${found}: only apiextensions.k8s.io/v1 is served.`)
  }
  const { request } = envelope
  if (!isObject(request)) throw new MalformedConversionReview('The ConversionReview has no request.')
  const { uid, desiredAPIVersion } = request
  if (typeof uid !== 'string' || uid === '') throw new MalformedConversionReview('The request of the ConversionReview has no uid.')
  if (typeof desiredAPIVersion !== 'string')
    throw new MalformedConversionReview('The request of the ConversionReview has no desiredAPIVersion.')
  if (!Array.isArray(request.objects)) throw new MalformedConversionReview('The request of the ConversionReview has no list of objects.')
  return { uid, desiredAPIVersion, body, objects }
}

/** Returns the converter for objects of a group and kind; undefined when there is none. */
type FindConverter = (group: string, kind: JsonValue | undefined) => ObjectConverter | undefined

/** Called once for each object. `failed` is true when the object could not be converted. */
type ObjectConverted = (failed: boolean) => void

/**
 * Converts the objects of a review one after the other, in time slices.
 *
 * If a conversion fails, the response contains no objects, as the API requires. The response then names the first `maxNamed` failed
 * objects, and gives the number of the other failed objects. To count the failures, the function converts the remaining objects, until
 * `maxFailed` conversions have failed.
 *
 * @throws {MalformedConversionReview} when an object is not JSON.
 * @throws the reason of `call.signal` when the signal aborts.
 */
export async function answerConversion(
  request: ConversionRequest,
  find: FindConverter,
  call: ConversionCall,
  slices: TaskSlices,
  converted: ObjectConverted,
): Promise<ConversionAnswer> {
  const { group, version } = parseApiVersion(request.desiredAPIVersion)
  const pieces: Buffer[] = []
  const failures: string[] = []
  let failed = 0
  let piece = `${beginningOf(request.uid)}"convertedObjects":[`
  let separator = ''
  for (const scanned of request.objects) {
    // The conversion of the previous object may have taken so long that the API server no longer waits for the response.
    call.signal.throwIfAborted()
    // The scan of a large object may have used up the time slice. In this case, the object is parsed in the next slice.
    const turn = slices.next()
    if (turn !== undefined) await turn
    let object: JsonObject = {}
    try {
      const excess = excessOf(scanned)
      object = await (excess === undefined ? readObject(scanned, slices) : identityOf(scanned.bytes))
      const converter = find(group, object.kind)
      if (converter === undefined) throw new TypeError(`its kind is not converted to ${request.desiredAPIVersion} here`)
      if (excess !== undefined) throw new TypeError(`request.objects[${scanned.index}] ${excess}`)
      const result = await converter.convert(object, version, call)
      if (failed === 0) piece += separator + stringifyJson(result)
      converted(false)
    } catch (error) {
      if (error instanceof MalformedConversionReview) throw error
      failed += 1
      converted(true)
      const level = failures.length < maxNamed ? 'error' : 'debug'
      call.logger[level]({ ...facts(object), to: request.desiredAPIVersion, err: error }, 'a conversion failed')
      if (failures.length < maxNamed) failures.push(`${describe(object)}: ${messageOf(error)}`)
    }
    if (failed === maxFailed) break
    separator = ','
    if (piece.length >= pieceLength) {
      pieces.push(Buffer.from(piece))
      piece = ''
    }
  }
  if (failed > 0) {
    const rest = failed === maxFailed ? ', after which no others were tried' : ''
    const others = failed > failures.length ? `; and ${failed - failures.length} more${rest}` : ''
    return failedConversion(request.uid, `cannot convert to ${version}: ${failures.join('; ')}${others}`)
  }
  pieces.push(Buffer.from(`${piece}],"result":{"status":"Success"}}}`))
  return { pieces, failed: false }
}

/** Returns a response that contains an error and no objects. */
export function failedConversion(uid: string, message: string, code = 500, reason = 'InternalError'): ConversionAnswer {
  return { pieces: [Buffer.from(`${beginningOf(uid)}"result":${JSON.stringify(failure(code, reason, message))}}}`)], failed: true }
}

function beginningOf(uid: string): string {
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":${JSON.stringify(uid)},`
}

/** Formats an object for a message, e.g. `CronTab.example.com "namespace/name" (v1beta1)`. */
function describe(object: JsonObject): string {
  const { apiVersion, kind, metadata } = object
  const { group, version } = parseApiVersion(typeof apiVersion === 'string' ? apiVersion : '')
  const { name, namespace } = (isObject(metadata) ? metadata : {}) as JsonObject & { name?: string; namespace?: string }
  const key = typeof name === 'string' ? ` "${formatKey({ name, namespace })}"` : ''
  return `${groupKindOf({ group, kind: String(kind) })}${key} (${version})`
}
