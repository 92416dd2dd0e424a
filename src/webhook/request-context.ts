/** The context of one request, and what handlers said through it. */
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { qualifiedName } from '../api/names.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { AdmissionCache } from './admission-cache.ts'
import type { AdmissionContext } from './context.ts'
import type { Call } from './handler.ts'
import type { AdmissionRequest, AdmissionResponse } from './review.ts'

type Context = AdmissionContext<JsonObject>

/** The API server gives its users 4 Ki characters of warnings in all (k8s.io/apiserver `pkg/endpoints/filters`: `WithWarningRecorder`). */
const maxWarningLength = 4096
const maxWarnings = 64

/**
 * A class for the sake of its getters: one in an object literal gives each object a shape of its own, and that keeps the whole
 * request in memory until the next full garbage collection. What few handlers ask for is made when it is asked for.
 */
export class RequestContext implements Context {
  readonly operation: Context['operation']
  readonly dryRun: boolean
  readonly user: Context['user']
  readonly namespace: string
  readonly name: string
  readonly resource: Context['resource']
  readonly subResource: string
  readonly oldObject: JsonObject | undefined
  readonly cache: AdmissionCache
  readonly #request: AdmissionRequest
  readonly #call: Call
  #logger: Logger | undefined
  #warnings: Set<string> | undefined
  #annotations: Map<string, string> | undefined

  constructor(request: AdmissionRequest, oldObject: JsonObject | undefined, call: Call) {
    this.operation = request.operation
    this.dryRun = request.dryRun
    this.user = request.userInfo
    this.namespace = request.namespace
    this.name = request.name
    this.resource = request.resource
    this.subResource = request.subResource
    this.oldObject = oldObject
    this.cache = call.cache
    this.#request = request
    this.#call = call
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get client(): Client {
    return this.#call.client
  }

  get options(): Context['options'] {
    return (this.#request.options ?? {}) as Context['options']
  }

  get logger(): Logger {
    if (this.#logger === undefined) {
      const { uid, kind, namespace, name, operation } = this.#request
      this.#logger = this.#call.logger.child({ uid, kind: kind.kind, namespace, name, operation })
    }
    return this.#logger
  }

  // Functions without `this`, for handlers that take the context apart.
  get warn(): Context['warn'] {
    return (text) => {
      if (text === '') return
      this.#warnings ??= new Set()
      if (this.#warnings.size < maxWarnings) this.#warnings.add(text.slice(0, maxWarningLength))
    }
  }

  get audit(): Context['audit'] {
    return (key, value) => this.#audit(key, value)
  }

  get requesterCan(): Context['requesterCan'] {
    return (attributes) => this.#call.access.allows(this.client, this.user, attributes, this.namespace)
  }

  /** What handlers said: warnings, each once, and audit annotations. Most requests have none. */
  said(): Pick<AdmissionResponse, 'warnings' | 'auditAnnotations'> | undefined {
    if (this.#warnings === undefined && this.#annotations === undefined) return undefined
    return {
      ...(this.#warnings === undefined ? {} : { warnings: [...this.#warnings] }),
      ...(this.#annotations === undefined ? {} : { auditAnnotations: Object.fromEntries(this.#annotations) }),
    }
  }

  #audit(key: string, value: string): void {
    checkAuditKey(key)
    const before = (this.#annotations ??= new Map<string, string>()).get(key)
    if (before === undefined) this.#annotations.set(key, value)
    else if (before !== value) this.logger.warn({ key, kept: before, dropped: value }, 'an audit annotation has another value already')
  }
}

/** @throws {ProreusError} `PRO_INPUT` for what the API server would drop. */
export function checkAuditKey(key: string): void {
  const problems = key.includes('/') ? ['must not contain a slash: the name of the webhook is put before it'] : qualifiedName(key)
  if (problems.length > 0) throw new ProreusError('PRO_INPUT', `${quote(key)} is no key of an audit annotation: ${problems.join('; ')}.`)
}
