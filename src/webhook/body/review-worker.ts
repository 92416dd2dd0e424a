/** The thread that reads and judges what would hold up the event loop, by the schemas of the kinds alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../api/clock.ts'
import { messageOf } from '../../api/errors.ts'
import type { Status, StatusCause } from '../../api/status.ts'
import { failure } from '../../api/status.ts'
import type { Client } from '../../client/client.ts'
import { silentLogger } from '../../telemetry/logger.ts'
import { AccessReviews } from '../access.ts'
import { AdmissionCache } from '../admission-cache.ts'
import { combineWebhooks } from '../combine.ts'
import { webhook } from '../definition.ts'
import type { AdmissionHandler, Call } from '../handler.ts'
import { mutatingHandler } from '../mutating.ts'
import type { AdmissionResponse } from '../review.ts'
import { MalformedReview, decodeReview, encodeReview } from '../review.ts'
import { validatingHandler } from '../validating.ts'
import { parseBytes } from './read.ts'
import { readThreadKinds } from './thread-kinds.ts'

/** What is to be judged: the bytes of a whole AdmissionReview, by what is said of its kind. */
export interface ReviewJob {
  readonly id: number
  /** Its place among the webhooks of the process. */
  readonly webhook: number
  readonly verb: 'mutate' | 'validate'
  /** A transferred buffer; it comes back with the answer. */
  readonly bytes: ArrayBuffer
}

export interface ReviewResult {
  readonly id: number
  readonly bytes: ArrayBuffer
  /** The answer as text, and what a log needs to know of it. */
  readonly text: string
  readonly allowed: boolean
  readonly patched: boolean
  /** Of a denial: whether nothing is wrong but that fields are missing, which a handler may fill in. */
  readonly incomplete: boolean
  readonly code: number | undefined
  readonly reason: string | undefined
}

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
  const combined = combineWebhooks([webhook(kind, { refuseInvalidEarly })]).find((one) => one.version === version)!
  const handler = verb === 'mutate' ? mutatingHandler(combined) : validatingHandler(combined)
  handlers.set(key, handler)
  return handler
}

async function review(job: ReviewJob): Promise<ReviewResult> {
  const { id, bytes } = job
  let uid = ''
  let response: AdmissionResponse
  try {
    const request = decodeReview(parseBytes(Buffer.from(bytes)))
    uid = request.uid
    response = await handlerOf(job)(request, call)
  } catch (error) {
    const malformed = error instanceof MalformedReview
    response = { allowed: false, status: failure(malformed ? 400 : 500, malformed ? 'BadRequest' : 'InternalError', messageOf(error)) }
  }
  const { allowed, status, patch = [] } = response
  return {
    patched: patch.length > 0,
    incomplete: !allowed && isIncomplete(status),
    id,
    bytes,
    text: uid === '' ? '' : encodeReview(uid, response),
    allowed,
    code: status?.code,
    reason: status?.reason,
  }
}

function isIncomplete(status: Status | undefined): boolean {
  const causes = status?.details?.causes ?? []
  const isMissing = ({ reason, field }: StatusCause): boolean => reason === 'FieldValueRequired' || field === '<nil>'
  return causes.every(isMissing) && causes.some(({ reason }) => reason === 'FieldValueRequired')
}

port.on('message', (job: ReviewJob) => {
  void review(job).then((result) => port.postMessage(result, [result.bytes]))
})
