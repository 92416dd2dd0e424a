/** A handler whose large requests are judged by another thread. */
import { failure } from '../../api/status.ts'
import type { CombinedWebhook } from '../combine.ts'
import type { AdmissionHandler, Call } from '../handler.ts'
import type { AdmissionRequest, AdmissionResponse } from '../review.ts'
import type { ReviewJob, ReviewResult } from './review-worker.ts'
import type { ReviewThreads } from './review-threads.ts'
import type { UnreadReview } from './unread.ts'
import { unreadOf } from './unread.ts'

export interface ApartOptions extends Pick<ReviewJob, 'verb'> {
  readonly threads: ReviewThreads
  readonly webhook: CombinedWebhook
}

/**
 * `handler`, with reviews that were left unread judged by the schema in another thread. What that refuses is refused, but for fields
 * that `default` may fill in; and without handlers of the kind's own that was all. With them, the objects are read here, bit by bit,
 * and `handler` need not judge again. Where there is no schema, reading is all that is left.
 */
export function reviewedApart(handler: AdmissionHandler, { threads, webhook, verb }: ApartOptions): AdmissionHandler {
  const hasSchema = webhook.schemaKind !== undefined
  /** Whether the thread's answer tells all that the schema has against the object. */
  const tellsAll = verb === 'validate' || webhook.refuseInvalidEarly
  const reviewApart = async (request: AdmissionRequest, call: Call, unread: UnreadReview): Promise<AdmissionResponse> => {
    let judged
    if (hasSchema) {
      const handlers = webhook.handlers[request.operation]
      const fillsIn = verb === 'mutate' && handlers.some((one) => one.default !== undefined)
      const result = await threads.review({ webhook, verb, bytes: ownBuffer(unread.bytes) }, call.signal)
      unread.bytes = Buffer.from(result.bytes)
      if (handlers.length === 0 || (!result.allowed && !(fillsIn && result.incomplete))) return responseOf(result)
      if (result.allowed && tellsAll) judged = { written: result.text, patched: result.patched }
    }
    const complete = await unread.read(request, () => call.signal.throwIfAborted())
    return handler(judged === undefined ? complete : { ...complete, judged }, call)
  }
  return (request, call) => {
    const unread = unreadOf(request)
    return unread === undefined ? handler(request, call) : reviewApart(request, call, unread)
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
