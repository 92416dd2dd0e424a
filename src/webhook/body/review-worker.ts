/** The thread that reads and judges what would hold up the event loop, by the schemas of the kinds alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../api/clock.ts'
import { messageOf } from '../../api/errors.ts'
import type { FieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { stringifyJson } from '../../api/json.ts'
import { parseJson } from '../../api/json-reader.ts'
import type { Status } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Client } from '../../client/client.ts'
import { schemaOf } from '../../schema/kind-schema.ts'
import { silentLogger } from '../../telemetry/logger.ts'
import { AccessReviews } from '../access.ts'
import { AdmissionCache } from '../admission-cache.ts'
import { combineWebhooks } from '../combine.ts'
import { defineWebhook } from '../definition.ts'
import type { AdmissionHandler, Call } from '../handler.ts'
import { mutatingHandler } from '../mutating.ts'
import type { PatchOperation } from '../patch.ts'
import { createPatch } from '../patch.ts'
import type { AdmissionRequest, AdmissionResponse } from '../review.ts'
import { MalformedReview, decodeReview, encodeReview } from '../review.ts'
import { validatingHandler } from '../validating.ts'
import { applyChanges } from './apply-changes.ts'
import { parseBytes } from './read.ts'
import { readThreadKinds } from './thread-kinds.ts'

/** What is to be judged: the bytes of a whole AdmissionReview, by what is said of its kind. */
export interface ReviewJob {
  /** Its place among the webhooks of the process. */
  readonly webhook: number
  readonly verb: 'mutate' | 'validate'
  /** Whether handlers are to get the object with its defaults, and may add to the answer. */
  readonly completes: boolean
  /** What handlers have made of the object with its defaults, as a JSON patch: it is judged then, and nothing answered. */
  readonly changes?: string | undefined
  /** A transferred buffer; it comes back with the answer. */
  readonly bytes: ArrayBuffer
}

/** Whatever may be large is a buffer, which is moved and not copied: even to copy a text of some megabytes would hold up the others. */
export interface ReviewResult {
  readonly bytes: ArrayBuffer
  /** The answer as JSON; undefined for what is no review. */
  readonly answer: ArrayBuffer | undefined
  readonly allowed: boolean
  /** How long its patch is, before base64; undefined for an answer that may not have one. */
  readonly patch: { readonly operations: number; readonly bytes: number } | undefined
  /** What the schema has against the object, where handlers are to go on with it; undefined when it cannot be judged, or that is too much. */
  readonly errors: readonly FieldError[] | undefined
  /** The object with its defaults and the patch that brings them, as JSON; where `completes` was asked for, and there are any. */
  readonly defaulted: { readonly object: ArrayBuffer; readonly patch: ArrayBuffer; readonly operations: number } | undefined
  readonly warnings: readonly string[]
  /** What the answer refuses the object with, without the errors. */
  readonly refused: { readonly code: number; readonly reason: string; readonly message: string; readonly causes: number } | undefined
}

/** With more, handlers have nothing to add that anybody would read. */
const maxErrors = 100

const port = parentPort
if (port === null) throw new Error('review-worker.ts is the code of a thread')

const kinds = readThreadKinds(workerData as string)
const handlers = new Map<string, AdmissionHandler>()

/** Nothing here asks the cluster: only handlers of a kind's own do. */
const call: Call = {
  client: {} as Client,
  cache: new AdmissionCache(undefined),
  access: new AccessReviews(systemClock),
  logger: silentLogger(),
  signal: new AbortController().signal,
}

function handlerOf({ webhook: index, verb }: ReviewJob): AdmissionHandler {
  const key = `${verb} ${index}`
  const known = handlers.get(key)
  if (known !== undefined) return known
  const { kind, version, refuseInvalidEarly } = kinds[index]!
  const combined = combineWebhooks([defineWebhook(kind, { refuseInvalidEarly })]).find((one) => one.version === version)!
  const handler = verb === 'mutate' ? mutatingHandler(combined) : validatingHandler(combined)
  handlers.set(key, handler)
  return handler
}

async function review(job: ReviewJob): Promise<ReviewResult> {
  const { bytes, completes, changes } = job
  let request: AdmissionRequest | undefined
  let response: AdmissionResponse
  try {
    request = decodeReview(parseBytes(Buffer.from(bytes)))
    if (changes !== undefined) return judgeChanges(job, request, changes)
    response = await handlerOf(job)(request, call)
  } catch (error) {
    const malformed = error instanceof MalformedReview
    response = { allowed: false, status: failure(malformed ? 400 : 500, malformed ? 'BadRequest' : 'InternalError', messageOf(error)) }
  }
  const { allowed, status, warnings = [] } = response
  let patch: ReviewResult['patch']
  const observer = { patched: (operations: number, bytes: number): void => void (patch = { operations, bytes }) }
  const answer = request && ownBytes(encodeReview(request.uid, response, observer))
  const isJudged = allowed || status?.reason === 'Invalid'
  const completion = completes && isJudged && request?.object !== undefined ? completionOf(job, request, response) : {}
  return { ...nothing, bytes, answer, allowed, patch, warnings, refused: status && refusalOf(status), ...completion }
}

const nothing = {
  answer: undefined,
  patch: undefined,
  errors: undefined,
  defaulted: undefined,
  warnings: [],
  refused: undefined,
} satisfies Partial<ReviewResult>

function refusalOf({ code = 500, reason = 'InternalError', message = '', details }: Status): ReviewResult['refused'] {
  const causes = details?.causes?.length ?? 0
  // With causes it says all of them again, which may be megabytes that the answer has already.
  return { code, reason, message: causes === 0 ? message : `${causes} errors`, causes }
}

/** What handlers are to go on with. */
function completionOf(
  { webhook: index }: ReviewJob,
  { object, oldObject }: AdmissionRequest,
  { allowed }: AdmissionResponse,
): Pick<ReviewResult, 'errors'> & Partial<ReviewResult> {
  const { kind, version } = kinds[index]!
  const schema = schemaOf(kind, version)
  const completed = schema.default(object!)
  const errors = allowed ? [] : schema.validate(completed, oldObject)
  if (errors.length > maxErrors) return { errors: undefined }
  const patch = createPatch(object!, completed, schema.schema)
  if (patch.length === 0) return { errors }
  return {
    errors,
    defaulted: { object: ownBytes(stringifyJson(completed)), patch: ownBytes(stringifyJson(patch)), operations: patch.length },
  }
}

function judgeChanges({ bytes, webhook: index }: ReviewJob, { object, oldObject }: AdmissionRequest, changes: string): ReviewResult {
  const { kind, version } = kinds[index]!
  const schema = schemaOf(kind, version)
  // Through text: the defaults of a schema stand in as many places as they were filled in at.
  const changed = parseJson(stringifyJson(schema.default(object!))) as JsonObject
  applyChanges(changed, parseJson(changes) as unknown as readonly PatchOperation[])
  const errors = schema.validate(changed, oldObject)
  return { ...nothing, bytes, allowed: errors.length === 0, errors: errors.slice(0, maxErrors) }
}

/** In a buffer of their own, so that it can be given away. */
function ownBytes(text: string): ArrayBuffer {
  return new TextEncoder().encode(text).buffer
}

port.on('message', (job: ReviewJob) => {
  void review(job).then((result) => {
    const { bytes, answer, defaulted } = result
    port.postMessage(
      result,
      [bytes, answer, defaulted?.object, defaulted?.patch].filter((buffer) => buffer !== undefined),
    )
  })
})
