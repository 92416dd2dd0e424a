/** A handler whose large requests are judged by another thread. */
import type { FieldError } from '../../api/field-error.ts'
import { stringifyJson } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import type { CombinedWebhook } from '../combine.ts'
import type { AdmissionHandler, Call } from '../handler.ts'
import { handlersWith } from '../handler.ts'
import type { PatchOperation } from '../patch.ts'
import type { AdmissionRequest, AdmissionResponse, Judged, WrittenAnswer } from '../review.ts'
import type { ReviewJob, ReviewResult } from './review-worker.ts'
import type { ReviewThreads } from './review-threads.ts'
import type { UnreadReview } from './unread.ts'
import { unreadOf } from './unread.ts'

export interface ApartOptions extends Pick<ReviewJob, 'verb'> {
  readonly threads: ReviewThreads
  readonly webhook: CombinedWebhook
}

/**
 * `handler`, with reviews that were left unread judged by the schema in another thread. Where the kind's own handlers would not be asked,
 * that was all. With them, the objects are read here, bit by bit, with the defaults that the other thread has filled in and what it has
 * found; `handler` need not judge again, and has what handlers change judged by the other thread. Where there is no schema, reading is
 * all that is left.
 */
export function reviewedApart(handler: AdmissionHandler, { threads, webhook, verb }: ApartOptions): AdmissionHandler {
  const { schemaKind, refuseInvalidEarly, handlers } = webhook
  const asked =
    verb === 'mutate'
      ? handlersWith(handlers, 'default', ...(refuseInvalidEarly ? (['validate'] as const) : []))
      : { ...handlersWith(handlers, 'validate', 'validateInCluster'), DELETE: handlersWith(handlers, 'validateDelete').DELETE }
  /** Whether the thread's answer tells all that the schema has against the object. */
  const tellsAll = verb === 'validate' || refuseInvalidEarly

  const reviewApart = async (request: AdmissionRequest, call: Call, unread: UnreadReview): Promise<AdmissionResponse> => {
    const isAsked = asked[request.operation].length > 0
    const completes = verb === 'mutate' && isAsked
    const review = async (changes?: string): Promise<ReviewResult> => {
      const result = await threads.review({ webhook, verb, completes, changes, bytes: ownBuffer(unread.bytes) }, call.signal)
      unread.bytes = Buffer.from(result.bytes)
      return result
    }
    const readHere = (completed?: Buffer): Promise<AdmissionRequest> => unread.read(request, () => call.signal.throwIfAborted(), completed)
    if (schemaKind === undefined) return handler(await readHere(), call)
    const result = await review()
    const { answer, errors } = result
    if (!isAsked || answer === undefined || (!result.allowed && (!completes || errors === undefined))) return responseOf(result)
    if (!tellsAll) return handler(await readHere(), call)
    const validate = async (operations: readonly PatchOperation[]): Promise<readonly FieldError[]> => {
      const { errors } = await review(stringifyJson(operations))
      if (errors === undefined) throw new TypeError('What handlers have made of the object cannot be judged.')
      return errors
    }
    const whole = await readHere(result.defaulted && Buffer.from(result.defaulted.object))
    return handler({ ...whole, judged: judgementOf(result, answer, validate) }, call)
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

function responseOf(result: ReviewResult): AdmissionResponse {
  const { answer, allowed, refused } = result
  const written = answer === undefined ? {} : { written: writtenAnswer(result, answer) }
  return refused === undefined
    ? { allowed, ...written }
    : { allowed, ...written, status: failure(refused.code, refused.reason, refused.message) }
}

function judgementOf(result: ReviewResult, answer: ArrayBuffer, validate: Judged['validate']): Judged {
  const { defaulted, warnings, errors = [] } = result
  const patch = defaulted && { operations: defaulted.operations, bytes: Buffer.from(defaulted.patch) }
  return { errors, validate, written: writtenAnswer(result, answer), patch, warnings }
}

function writtenAnswer({ patch, warnings, refused }: ReviewResult, answer: ArrayBuffer): WrittenAnswer {
  return { bytes: Buffer.from(answer), patch, warnings: warnings.length, causes: refused?.causes ?? 0 }
}
