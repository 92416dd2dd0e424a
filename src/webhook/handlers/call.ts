/** The types for calling the handlers of a webhook. */
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Awaitable, Evaluation, Found } from '../evaluation/evaluation.ts'
import type { AdmissionResponse } from '../review/admission-review.ts'
import type { AccessReviews } from './requester-access.ts'
import type { AdmissionCache } from './admission-cache.ts'

/** The data for a call of the handlers, without the admission request. */
export interface Call {
  /** The client of the webhook server. The handlers of a webhook use this client if the webhook has no client of its own. */
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Calls the handlers of a webhook for an object that the webhook applies to. */
export type AdmissionHandler = (evaluation: Evaluation, found: Found, call: Call) => Awaitable<AdmissionResponse>
