/** Types and functions that the mutating and the validating webhook share. */
import type { ErrorList } from '../api/error-list.ts'
import { isEmpty, omission } from '../api/error-list.ts'
import { invalidStatus, sortFieldErrors } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import type { Status } from '../api/status.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AccessReviews } from './access.ts'
import type { AdmissionCache } from './admission-cache.ts'
import type { CombinedWebhook, Handlers } from './combine.ts'
import type { WebhookHandlers } from './definition.ts'
import type { Awaitable, Evaluation, Found } from './evaluation/evaluation.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'

/** The data of one call besides the request. */
export interface Call {
  /** For handlers whose operator has no client of its own. */
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Runs the handlers for an object to which the webhook applies. Returns a plain value when nothing has to be awaited. */
export type AdmissionHandler = (evaluation: Evaluation, found: Found, call: Call) => Awaitable<AdmissionResponse>

/** Returns, by operation, the webhooks that define one of these handlers. */
export function handlersWith(
  handlers: CombinedWebhook['handlers'],
  ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]
): CombinedWebhook['handlers'] {
  const have = (all: Handlers): Handlers => all.filter(({ handlers }) => functions.some((name) => handlers[name] !== undefined))
  const { CREATE, UPDATE, DELETE, CONNECT } = handlers
  return { CREATE: have(CREATE), UPDATE: have(UPDATE), DELETE: have(DELETE), CONNECT: have(CONNECT) }
}

/** All errors of a review, or the failure `Status` of a handler. */
export type CombinedVerdict = ErrorList | Status

/** Builds the response for a verdict: errors in the format of the API server's own validation, sorted by field. */
export function respond(
  { kind, name }: AdmissionRequest,
  verdict: CombinedVerdict,
  said?: Pick<AdmissionResponse, 'warnings' | 'auditAnnotations'>,
): AdmissionResponse {
  if (!('listed' in verdict)) return { allowed: false, status: verdict, ...said }
  if (isEmpty(verdict)) return { allowed: true, ...said }
  const more = omission(verdict)
  const errors = sortFieldErrors(verdict.listed)
  const status = invalidStatus(kind, name, more === undefined ? errors : [...errors, more], { keepOrder: true })
  return { allowed: false, status, ...said }
}
