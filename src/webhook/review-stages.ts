/** Runs the stages of a review in order. */
import type { Awaitable, Evaluation } from './evaluation/evaluation.ts'
import { whenReady } from './evaluation/evaluation.ts'
import type { AdmissionHandler, Call } from './handlers/call.ts'
import type { AdmissionResponse, WrittenAnswer } from './review/admission-review.ts'
import { MalformedReview } from './review/admission-review.ts'
import type { Mismatch } from './review/target.ts'

export interface Stages {
  readonly mismatch: Mismatch
  readonly handler: AdmissionHandler
}

/** The response of the stages, and its serialized form. */
export interface Answered {
  readonly response: AdmissionResponse
  readonly written: WrittenAnswer
}

const allowed: AdmissionResponse = Object.freeze({ allowed: true })

/**
 * Runs the stages of a review:
 *
 * 1. `begin` decodes the request. In a mutating webhook, `begin` applies the defaults of the schema. Then the schema validates the object.
 * 2. `handler` calls the handlers of the webhook. If a `default` handler changes the object, the schema validates the object again.
 * 3. `answer` serializes the patch and the response.
 *
 * The handlers of the webhook run on the main thread. Everything else runs in the thread of the evaluation.
 *
 * @throws {MalformedReview} when the API server has sent the request to the path of another webhook.
 */
export function runStages({ mismatch, handler }: Stages, evaluation: Evaluation, call: Call): Awaitable<Answered> {
  return whenReady(evaluation.begin(call), (found) => {
    const wrongPath = mismatch(found.request)
    if (wrongPath !== undefined) throw new MalformedReview(wrongPath)
    const response = found.applies ? handler(evaluation, found, call) : allowed
    return whenReady(response, (response) => whenReady(evaluation.answer(response), (written) => ({ response, written })))
  })
}
