/** The types of a call of a webhook's handlers. */
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Awaitable, Evaluation, Found } from '../evaluation/evaluation.ts'
import type { AdmissionResponse } from '../review/admission-review.ts'
import type { AccessReviews } from './requester-access.ts'
import type { AdmissionCache } from './admission-cache.ts'

/** The data of one call besides the request. */
export interface Call {
  /** The client for handlers whose operator has no client of its own. */
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Runs the handlers of a webhook for an object that it applies to. */
export type AdmissionHandler = (evaluation: Evaluation, found: Found, call: Call) => Awaitable<AdmissionResponse>
