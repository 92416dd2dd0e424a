/** A handler whose large requests are judged by another thread. */
import { failure } from '../../api/status.ts'
import type { JsonObject } from '../../api/json.ts'
import type { WebhookHandlers } from '../definition.ts'
import type { AdmissionHandler } from '../handler.ts'
import type { AdmissionResponse } from '../review.ts'
import type { ReviewJob, ReviewResult } from './review-worker.ts'
import type { ReviewThreads } from './review-threads.ts'
import { unreadOf } from './unread.ts'

export interface ApartOptions extends Pick<ReviewJob, 'webhook' | 'version' | 'verb'> {
  readonly threads: ReviewThreads
  /** What the thread cannot have: functions. */
  readonly handlers: WebhookHandlers<JsonObject>
  /** Whether the thread's answer tells all that the schema has against the object. */
  readonly tellsAll: boolean
}

/**
 * `handler`, with reviews that were left unread judged by the schema in another thread. What that refuses is refused, but for fields
 * that `default` may fill in; and without handlers of the kind's own that was all. With them, the objects are read here, bit by bit,
 * and `handler` need not judge again.
 */
export function reviewedApart(handler: AdmissionHandler, { threads, handlers, tellsAll, ...which }: ApartOptions): AdmissionHandler {
  const hasHandlers = Object.values(handlers as object).some((value) => typeof value === 'function')
  const fillsIn = which.verb === 'mutate' && handlers.default !== undefined
  return async (request, call) => {
    const unread = unreadOf(request)
    if (unread === undefined) return handler(request, call)
    const result = await threads.review({ ...which, bytes: ownBuffer(unread.bytes) }, call.signal)
    unread.bytes = Buffer.from(result.bytes)
    if (!hasHandlers || (!result.allowed && !(fillsIn && result.incomplete))) return responseOf(result)
    const complete = await unread.read(request, () => call.signal.throwIfAborted())
    if (!result.allowed || !tellsAll) return handler(complete, call)
    return handler({ ...complete, judged: { written: result.text, patched: result.patched } }, call)
  }
}

/** A buffer that holds these bytes and nothing else, so that it can be given away. */
function ownBuffer(bytes: Buffer): ArrayBuffer {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? buffer : new Uint8Array(bytes).buffer
}

function responseOf({ text, allowed, code, reason }: ReviewResult): AdmissionResponse {
  const written = text === '' ? {} : { written: text }
  return allowed
    ? { allowed, ...written }
    : { allowed, ...written, status: failure(code ?? 500, reason ?? 'InternalError', 'The review cannot be read.') }
}
