/** The stages of a review, in order. */
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

/** The result of the stages. */
export interface Answered {
  readonly response: AdmissionResponse
  readonly written: WrittenAnswer
}

const allowed: AdmissionResponse = Object.freeze({ allowed: true })

/**
 * 1. The request is decoded; in a mutating webhook the schema's defaults are applied; the schema validates the object (`begin`).
 * 2. The handlers are called (`mutatingHandler`, `validatingHandler`): `default`, `validate` and `validateInCluster`. After each `default`,
 * the schema validates the object again.
 * 3. The patch and the response are serialized (`answer`).
 *
 * Handlers run on the main thread; everything else runs in the thread of the evaluation.
 *
 * @throws {MalformedReview} when the request does not belong to this path.
 */
export function runStages({ mismatch, handler }: Stages, evaluation: Evaluation, call: Call): Awaitable<Answered> {
  return whenReady(evaluation.begin(call), (found) => {
    const wrongPath = mismatch(found.request)
    if (wrongPath !== undefined) throw new MalformedReview(wrongPath)
    const response = found.applies ? handler(evaluation, found, call) : allowed
    return whenReady(response, (response) => whenReady(evaluation.answer(response), (written) => ({ response, written })))
  })
}
