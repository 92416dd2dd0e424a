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
  call: Call,
): { context: AdmissionContext<JsonObject>; warnings: ReadonlySet<string> } {
  const warnings = new Set<string>()
  return { context: new RequestContext(request, call, (text) => void (text !== '' && warnings.add(text))), warnings }
}

/**
 * A class for the sake of its getter: one in an object literal gives each object a shape of its own, and that keeps the whole
 * request in memory until the next full garbage collection.
 */
class RequestContext implements AdmissionContext<JsonObject> {
  readonly operation: AdmissionContext<JsonObject>['operation']
  readonly dryRun: boolean
  readonly user: AdmissionContext<JsonObject>['user']
  readonly namespace: string
  readonly name: string
  readonly subResource: string
  readonly oldObject: JsonObject | undefined
  readonly signal: AbortSignal
  readonly client: Client
  readonly warn: (text: string) => void
  readonly #request: AdmissionRequest
  readonly #logger: Logger
  #child: Logger | undefined

  constructor(request: AdmissionRequest, { client, logger, signal }: Call, warn: (text: string) => void) {
    this.operation = request.operation
    this.dryRun = request.dryRun
    this.user = request.userInfo
    this.namespace = request.namespace
    this.name = request.name
    this.subResource = request.subResource
    this.oldObject = request.oldObject
    this.signal = signal
    this.client = client
    this.warn = warn
    this.#request = request
    this.#logger = logger
  }

  /** Most handlers log nothing: the child logger is made when it is asked for. */
  get logger(): Logger {
    const { uid, kind, namespace, name, operation } = this.#request
    this.#child ??= this.#logger.child({ uid, kind: kind.kind, namespace, name, operation })
    return this.#child
  }
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
