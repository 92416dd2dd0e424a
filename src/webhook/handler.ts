/** What the mutating and the validating handler share: what they are called with, and how they respond. */
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

/** What comes with one call besides the request. */
export interface Call {
  /** For handlers whose operator has none of its own. */
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** The stages of handlers, about an object that is the webhook's business. Answers at once where nobody has to be waited for. */
export type AdmissionHandler = (evaluation: Evaluation, found: Found, call: Call) => Awaitable<AdmissionResponse>

/** For each operation those webhooks whose handlers have one of these functions. */
export function handlersWith(
  handlers: CombinedWebhook['handlers'],
  ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]
): CombinedWebhook['handlers'] {
  const have = (all: Handlers): Handlers => all.filter(({ handlers }) => functions.some((name) => handlers[name] !== undefined))
  const { CREATE, UPDATE, DELETE, CONNECT } = handlers
  return { CREATE: have(CREATE), UPDATE: have(UPDATE), DELETE: have(DELETE), CONNECT: have(CONNECT) }
}

/** All errors of a review, or the `Status` that a handler refuses with. */
export type CombinedVerdict = ErrorList | Status

/** The response for a verdict: errors as the API server's own validation would give them, sorted by their fields. */
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
