/**
 * The contexts that the handlers of one admission request receive. The contexts collect the warnings and audit annotations of the handlers.
 */
import { ProreusError } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import { groupKindOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { qualifiedName } from '../../api/name-syntax.ts'
import type { CacheReader } from '../../cache/cache.ts'
import { DeclaredCache } from '../../cache/declared-cache.ts'
import { clientWithSignal } from '../../client/client-with-signal.ts'
import type { Client } from '../../client/client.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { OperatorWebhook } from '../definition/combine.ts'
import type { AdmissionContext, ReviewContext } from '../definition/context.ts'
import type { Call } from './call.ts'
import type { AdmissionRequest, AdmissionResponse } from '../review/admission-review.ts'
import { maxWarningLength } from '../review/admission-review.ts'

type Context = ReviewContext<JsonObject>

const maxWarnings = 64

/** The warnings and audit annotations that handlers have added to a response. */
class Collected {
  warnings: Set<string> | undefined
  annotations: Map<string, string> | undefined
}

/**
 * The context of one request for the `default` and `validate` handlers of all webhooks. Values that few handlers use are created on first
 * use.
 *
 * This is a class and not an object literal with getters: for each such literal, V8 would create a hidden class, which would keep the whole
 * request in memory until the next full garbage collection.
 */
export class HandlerContext implements Context {
  readonly operation: Context['operation']
  readonly dryRun: boolean
  readonly user: Context['user']
  readonly namespace: string
  readonly name: string
  readonly resource: Context['resource']
  readonly subResource: string
  readonly oldObject: JsonObject | undefined
  readonly #request: AdmissionRequest
  readonly #call: Call
  readonly #collected: Collected
  #logger: Logger | undefined

  constructor(request: AdmissionRequest, oldObject: JsonObject | undefined, call: Call, collected = new Collected()) {
    this.operation = request.operation
    this.dryRun = request.dryRun
    this.user = request.userInfo
    this.namespace = request.namespace
    this.name = request.name
    this.resource = request.resource
    this.subResource = request.subResource
    this.oldObject = oldObject
    this.#request = request
    this.#call = call
    this.#collected = collected
  }

  /**
   * Returns the context for the `validateInCluster` and `validateDelete` handlers of one webhook. The returned context and this context
   * collect their warnings and annotations in the same place.
   */
  of(webhook: OperatorWebhook): AdmissionContext<JsonObject> {
    return new ClusterContext(webhook, this.#request, this.oldObject, this.#call, this.#collected)
  }

  get signal(): AbortSignal {
    return this.#call.signal
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

  // Handlers destructure the context. Therefore, each getter returns a function that can be called without the context.
  get warn(): Context['warn'] {
    return (text) => {
      if (text === '') return
      const warnings = (this.#collected.warnings ??= new Set())
      if (warnings.size < maxWarnings) warnings.add(text.slice(0, maxWarningLength))
    }
  }

  get audit(): Context['audit'] {
    return (key, value) => this.#audit(key, value)
  }

  /** Returns the collected warnings, without duplicates, and the collected audit annotations. Returns undefined when there are none. */
  collected(): Pick<AdmissionResponse, 'warnings' | 'auditAnnotations'> | undefined {
    const { warnings, annotations } = this.#collected
    if (warnings === undefined && annotations === undefined) return undefined
    return {
      ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      ...(annotations === undefined ? {} : { auditAnnotations: Object.fromEntries(annotations) }),
    }
  }

  #audit(key: string, value: string): void {
    checkAuditKey(key)
    const annotations = (this.#collected.annotations ??= new Map())
    const before = annotations.get(key)
    if (before === undefined) annotations.set(key, value)
    else if (before !== value) this.logger.warn({ key, kept: before, dropped: value }, 'an audit annotation has another value already')
  }
}

/** The context of the `validateInCluster` and `validateDelete` handlers of one webhook. */
class ClusterContext extends HandlerContext implements AdmissionContext<JsonObject> {
  readonly #webhook: OperatorWebhook
  readonly #call: Call
  #client: Client | undefined
  #cache: CacheReader | undefined

  constructor(webhook: OperatorWebhook, ...[request, oldObject, call, collected]: Required<ConstructorParameters<typeof HandlerContext>>) {
    super(request, oldObject, call, collected)
    this.#webhook = webhook
    this.#call = call
  }

  get client(): Client {
    return (this.#client ??= clientWithSignal(this.#webhook.client ?? this.#call.client, this.signal))
  }

  get cache(): CacheReader {
    return (this.#cache ??= readsOf(this.#webhook, this.#call.cache))
  }

  get requesterCan(): AdmissionContext['requesterCan'] {
    return (attributes) => this.#call.access.allows(this.client, this.user, attributes, this.namespace)
  }
}

/**
 * Returns a view of the cache that is limited to the types that the webhook declares. Without this limit, a read of an undeclared type
 * would work only in processes in which another controller or webhook watches that type.
 */
function readsOf({ type, subresource, settings: { reads = [] } }: OperatorWebhook, cache: CacheReader): CacheReader {
  return new DeclaredCache(cache, reads, (unknown) => {
    const about = `${groupKindOf(type)}${subresource === '' ? '' : `/${subresource}`}`
    return `${unknown} is not in the \`reads\` of the webhook for ${about}: name it there, or read it with the client.`
  })
}

/**
 * Checks the key of an audit annotation.
 *
 * @throws {ProreusError} `PRO_INPUT` for a key that the API server would drop.
 */
export function checkAuditKey(key: string): void {
  const problems = key.includes('/') ? ['must not contain a slash: the name of the webhook is put before it'] : qualifiedName(key)
  if (problems.length > 0)
    throw new ProreusError('PRO_INPUT', `${quote(key)} is not a valid key of an audit annotation: ${problems.join('; ')}.`)
}
