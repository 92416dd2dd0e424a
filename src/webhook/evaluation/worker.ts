/** The worker thread that evaluates large reviews, one at a time. It has the schemas of the kinds, but no handlers. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { ErrorList } from '../../api/error-list.ts'
import { messageOf } from '../../api/errors.ts'
import type { JsonObject } from '../../api/json.ts'
import { stringifyJson } from '../../api/json.ts'
import { smallBytes } from '../body/memory-budget.ts'
import { BodyRefused } from '../body/body-refused.ts'
import type { AdmissionResponse } from '../review/admission-review.ts'
import { MalformedReview, readReview } from '../review/admission-review.ts'
import { readDelta } from './thread-delta.ts'
import type { Found, Verb } from './evaluation.ts'
import { excessOf } from './text-limits.ts'
import { InlineEvaluation, rulesOf } from './inline.ts'
import { readThreadWebhooks } from './thread-webhooks.ts'

/** The methods that the main thread can call. Large values are transferred as buffers instead of being copied. */
export interface WorkerCalls {
  begin(job: { readonly webhook: number; readonly verb: Verb; readonly bytes: ArrayBuffer }): Found
  /** Returns the objects for the handlers, as JSON. */
  objects(argument: undefined): { readonly object: ArrayBuffer | undefined; readonly oldObject: ArrayBuffer | undefined }
  /**
   * Replaces the current object of the review with a new object, validates the new object with the schema, and returns the errors. `delta`
   * is the result of `writeDelta` for the new object, with the current object as `base`. Before the first call of `change`, the current
   * object is the object that `objects` returns.
   */
  change(delta: string): ErrorList
  answer(response: AdmissionResponse): {
    readonly text: ArrayBuffer
    readonly patch: { readonly operations: number; readonly bytes: number } | undefined
  }
}

/** A message from the main thread to the worker thread: the method to call and its argument; undefined when the review is finished. */
export type WorkerMessage = { readonly method: keyof WorkerCalls; readonly argument: unknown } | undefined

export type WorkerReply =
  { readonly value: unknown } | { readonly error: 'MalformedReview' | 'BodyRefused' | 'Error'; readonly message: string }

/**
 * Maximum size in bytes of the JSON of an AdmissionRequest without its objects. The limit is low, because the AdmissionRequest is
 * copied to the main thread.
 */
const maxRequestBytes = smallBytes

const port = parentPort
if (port === null) throw new Error('worker.ts is the code of a thread')

giveWay()

const webhooks = readThreadWebhooks(workerData as string)
let current: InlineEvaluation | undefined
/** Buffers that are transferred to the main thread with the next result. */
let moved: ArrayBuffer[] = []

const calls: WorkerCalls = {
  begin({ webhook, verb, bytes }) {
    const body = Buffer.from(bytes)
    const excess = excessOf(body)
    if (excess !== undefined) throw new BodyRefused(413, `The AdmissionReview has more than ${excess}, and is not read.`)
    const evaluation = new InlineEvaluation(rulesOf(webhooks[webhook]!, verb), readReview(body))
    if (Buffer.byteLength(stringifyJson(evaluation.request)) > maxRequestBytes) {
      throw new BodyRefused(413, `The AdmissionReview is larger than ${maxRequestBytes} bytes without its objects, and is not read.`)
    }
    current = evaluation
    return evaluation.begin()
  },
  objects() {
    const { object, oldObject } = evaluation().objects()
    return { object: object && written(object), oldObject: oldObject && written(oldObject) }
  },
  change(delta) {
    return evaluation().change(readDelta(delta, evaluation().objects().object!))
  },
  answer(response) {
    const { text, patch } = evaluation().answer(response)
    return { text: bufferOf(text as string), patch }
  },
}

/**
 * Lowers the priority of this thread, so that small reviews on the main thread take precedence. Only on Linux does a thread have its own
 * priority. On other systems, this function does nothing, because the priority of the whole process would change.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A sandbox may forbid changing priorities. The thread then keeps the usual priority.
  }
}

function evaluation(): InlineEvaluation {
  if (current === undefined) throw new Error('no review has begun')
  return current
}

function written(object: JsonObject): ArrayBuffer {
  return bufferOf(stringifyJson(object))
}

/** Encodes a string as UTF-8 in a separate buffer, which is transferred with the next result. */
function bufferOf(text: string): ArrayBuffer {
  const { buffer } = new TextEncoder().encode(text)
  moved.push(buffer)
  return buffer
}

port.on('message', (message: WorkerMessage) => {
  if (message === undefined) {
    current = undefined
    return
  }
  moved = []
  const reply = replyTo(message)
  port.postMessage(reply, moved)
})

function replyTo({ method, argument }: NonNullable<WorkerMessage>): WorkerReply {
  try {
    return { value: calls[method](argument as never) }
  } catch (error) {
    moved = []
    const known = error instanceof MalformedReview || error instanceof BodyRefused
    return { error: known ? error.name : 'Error', message: messageOf(error) }
  }
}

// Reports to the main thread that this thread is ready.
port.postMessage(undefined)
