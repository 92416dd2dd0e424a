/** What the mutating and the validating handler share: what they are called with, which requests concern them, how they refuse. */
import type { FieldError } from '../api/field-error.ts'
import { invalidStatus } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject, jsonEqual } from '../api/json.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AccessReviews } from './access.ts'
import type { AdmissionCache } from './admission-cache.ts'
import type { CombinedWebhook, Handlers } from './combine.ts'
import type { Verdict, WebhookHandlers } from './definition.ts'
import type { RequestContext } from './request-context.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'

/** What comes with one call besides the request. */
export interface Call {
  readonly client: Client
  readonly cache: AdmissionCache
  readonly access: AccessReviews
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Answers at once where nobody has to be waited for. */
export type AdmissionHandler = (request: AdmissionRequest, call: Call) => AdmissionResponse | Promise<AdmissionResponse>

/** For each operation those handlers that have one of these functions. */
export function handlersWith(
  handlers: CombinedWebhook['handlers'],
  ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]
): CombinedWebhook['handlers'] {
  const have = (all: Handlers): Handlers => all.filter((one) => functions.some((name) => one[name] !== undefined))
  const { CREATE, UPDATE, DELETE, CONNECT } = handlers
  return { CREATE: have(CREATE), UPDATE: have(UPDATE), DELETE: have(DELETE), CONNECT: have(CONNECT) }
}

/**
 * Requests about an object that rules about its content have no say in: subresources, for `/status` must stay writable whatever the spec is;
 * and changes to the metadata of an object that is being deleted, for an object that was valid once must be able to lose its finalizers.
 */
export function isExempt(request: AdmissionRequest): boolean {
  if (request.subResource !== '' || request.operation === 'CONNECT') return true
  return (
    request.operation === 'UPDATE' && isBeingDeleted(request.oldObject) && jsonEqual(content(request.object), content(request.oldObject))
  )
}

function isBeingDeleted(object: JsonObject | undefined): boolean {
  return isObject(object?.metadata) && object.metadata.deletionTimestamp !== undefined
}

/** What an object says beside its metadata; finalizers may still act on it, so a change of it is never let through unseen. */
function content(object: JsonObject | undefined): object {
  return { ...object, metadata: undefined }
}

/** The response for a verdict: errors as the API server's own validation would give them, sorted by their fields. */
export function respond(request: AdmissionRequest, verdict: Verdict, context?: RequestContext): AdmissionResponse {
  if (isAllowed(verdict)) return { allowed: true, ...context?.said() }
  const status = isErrorList(verdict) ? invalidStatus(request.kind, nameOf(request), verdict) : verdict
  return { allowed: false, status, ...context?.said() }
}

export function isErrorList(verdict: Verdict): verdict is readonly FieldError[] {
  return Array.isArray(verdict)
}

export function isAllowed(verdict: Verdict): boolean {
  return isErrorList(verdict) && verdict.length === 0
}

function nameOf({ name, object }: AdmissionRequest): string {
  if (name !== '' || !isObject(object?.metadata)) return name
  return typeof object.metadata.name === 'string' ? object.metadata.name : ''
}
