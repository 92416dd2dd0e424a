/**
 * From the bytes of a body to a value. What `JSON.parse` would hold up everybody else with is looked at first: refused where it is more
 * than any object can be, else left unread for `reviewedApart`.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { messageOf } from '../../api/errors.ts'
import type { JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { parseJsonBytes } from '../../api/json-reader.ts'
import { maxNesting } from '../../schema/depth.ts'
import { MalformedReview } from '../review.ts'
import { smallBytes } from './budget.ts'
import { looksOrdinary } from './glance.ts'
import { BodyRefused } from './refused.ts'
import type { Range } from './scan.ts'
import { BodyScan } from './scan.ts'
import { UnreadReview, leaveUnread } from './unread.ts'

/** Up to this size, what looks ordinary is read and judged within 15 ms: an object that fills etcd's limit, mostly. */
const ordinaryBytes = 2 * 1024 * 1024
/** Without its objects, an AdmissionReview has some hundred bytes. */
const maxEnvelopeBytes = smallBytes
/**
 * Nesting as the schema engine knows it, with room for the review around the object; and of values what two objects of 1.5 MiB, the
 * limit of etcd, have when each takes six bytes with its name.
 */
export const bodyLimits = { levels: maxNesting + 10, values: 500_000 } as const
/** How much is scanned in one go: a millisecond or two. */
const bytesPerTurn = 1024 * 1024

/**
 * The value of a body; undefined for one that is empty. A promise for one that is not read at once.
 *
 * @throws {MalformedReview} when it is no JSON.
 * @throws {BodyRefused} when there is too much in it.
 */
export function readBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (bytes.length <= smallBytes || (bytes.length <= ordinaryBytes && looksOrdinary(bytes))) return parseBytes(bytes)
  return readApart(bytes)
}

/** @throws {MalformedReview} when it is no JSON. */
export function parseBytes(bytes: Buffer): JsonValue {
  try {
    // As of JSON.parse: `__proto__` is a key like any other here, and nothing that reads the result assigns through it.
    return parseJsonBytes(bytes)
  } catch (error) {
    throw new MalformedReview(`The body is no JSON: ${messageOf(error)}`)
  }
}

async function readApart(bytes: Buffer): Promise<unknown> {
  const scan = new BodyScan(bytes, bodyLimits)
  while (!scan.advance(bytesPerTurn)) await turn()
  const { excess, uid, object, oldObject } = scan
  if (excess !== undefined) {
    throw new BodyRefused(413, `The AdmissionReview has more than ${excess.limit} ${excess.what}, and is not read.`, uid)
  }
  const objects = [object, oldObject].filter((range) => range !== undefined).sort((a, b) => a.start - b.start)
  const envelope = without(bytes, objects)
  if (envelope.length > maxEnvelopeBytes) {
    throw new BodyRefused(413, `The AdmissionReview is larger than ${maxEnvelopeBytes} bytes without its objects, and is not read.`, uid)
  }
  const review = parseBytes(envelope)
  if (isObject(review) && isObject(review.request)) leaveUnread(review.request, new UnreadReview(bytes, object, oldObject))
  return review
}

/** The bytes with an empty object in the place of each range. */
function without(bytes: Buffer, ranges: readonly Range[]): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end } of ranges) {
    parts.push(bytes.subarray(at, start), emptyObject)
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}

const emptyObject = Buffer.from('{}')
