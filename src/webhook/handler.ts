/** What the mutating and the validating handler share: whom they ask, which requests concern them, how they refuse. */
import type { FieldError } from '../api/field-error.ts'
import { invalidStatus } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { isObject, jsonEqual } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AdmissionContext, Verdict } from './definition.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'

/** What comes with one call besides the request. */
export interface Call {
  readonly client: Client
  readonly logger: Logger
  readonly signal: AbortSignal
}

export type AdmissionHandler = (request: AdmissionRequest, call: Call) => Promise<AdmissionResponse>

/** The context of one request, and the warnings that handlers gave through it, each once. */
export function createContext(
  request: AdmissionRequest,
  { client, logger, signal }: Call,
): { context: AdmissionContext<JsonObject>; warnings: ReadonlySet<string> } {
  const { operation, dryRun, userInfo: user, namespace, name, subResource, oldObject } = request
  const warnings = new Set<string>()
  let child: Logger | undefined
  const context: AdmissionContext<JsonObject> = {
    operation,
    dryRun,
    user,
    namespace,
    name,
    subResource,
    oldObject,
    signal,
    client,
    // Most handlers log nothing: the child logger is made when it is asked for.
    get logger() {
      child ??= logger.child({ uid: request.uid, kind: request.kind.kind, namespace, name, operation })
      return child
    },
    warn: (text) => void (text !== '' && warnings.add(text)),
  }
  return { context, warnings }
}

/**
 * Requests that the rules about the spec have no say in: subresources, for `/status` must stay writable whatever the spec is;
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

/** The response for a verdict: errors as the API server's own validation would give them. */
export function respond(kind: Kind, request: AdmissionRequest, verdict: Verdict, warnings: ReadonlySet<string>): AdmissionResponse {
  const said = warnings.size === 0 ? {} : { warnings: [...warnings] }
  if (!isErrorList(verdict)) return { allowed: false, status: verdict, ...said }
  return verdict.length === 0
    ? { allowed: true, ...said }
    : { allowed: false, status: invalidStatus(kind, nameOf(request), verdict), ...said }
}

export function isErrorList(verdict: Verdict): verdict is readonly FieldError[] {
  return Array.isArray(verdict)
}

/** Both verdicts in one: a `Status` wins, errors add up. */
export function joinVerdicts(errors: readonly FieldError[], verdict: Verdict): Verdict {
  return isErrorList(verdict) ? [...errors, ...verdict] : verdict
}

function nameOf({ name, object }: AdmissionRequest): string {
  if (name !== '' || !isObject(object?.metadata)) return name
  return typeof object.metadata.name === 'string' ? object.metadata.name : ''
}
