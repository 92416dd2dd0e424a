/** `defineWebhook(type, handlers)`: declares admission webhooks. */
import { ProreusError } from '../../api/errors.ts'
import type { FieldError } from '../../api/field-error.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupKindOf } from '../../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject } from '../../api/json.ts'
import type { Kind } from '../../api/kind.ts'
import { kindOf } from '../../api/kind.ts'
import type { ObjectMeta } from '../../api/object.ts'
import type { Status } from '../../api/status.ts'
import type { AdmissionContext, Operation, ReviewContext } from './context.ts'
import type { WebhookSettings } from './settings.ts'
import { checkSettings } from './settings.ts'
import type { ReviewedObject } from './subresource.ts'
import { operationOf } from './subresource.ts'

export type { AdmissionContext, Operation, ReviewContext, UserInfo } from './context.ts'
export type { WebhookSettings } from './settings.ts'

type Awaitable<T> = T | Promise<T>

/**
 * An object of an admission request. On a create it has neither `uid`, `creationTimestamp` nor `resourceVersion` yet and, with
 * `generateName`, no name; the namespace is set.
 */
export type Incoming<T> = T extends { metadata: ObjectMeta }
  ? Omit<T, 'metadata'> & { metadata: Partial<ObjectMeta> & Pick<T['metadata'], 'namespace'> }
  : T

/** An empty list allows the request. A failure `Status` denies it with exactly this status, e.g. `failure(403, 'Forbidden', …)`. */
export type Verdict = readonly FieldError[] | Status

/**
 * Handlers; `T` is the object as stored, with the schema's defaults. Objects are frozen: return a changed copy.
 *
 * The handlers of several webhooks for the same type, of one operator or of several, are called in the order in which they are declared.
 * Each `default` receives the result of the previous one; errors are collected, and a rejection is final.
 */
export interface WebhookHandlers<T> {
  /**
   * Applies defaults beyond those of the schema, which are applied already; returns a changed copy, or the same object. Required fields may
   * still be missing, and can be set here. Not called when a value has the wrong type.
   */
  default?(object: DeepReadonly<Incoming<T>>, context: ReviewContext<T>): Awaitable<DeepReadonly<Incoming<T>>>
  /**
   * Validates beyond the schema, without reading the cluster. `old` is defined for an update. Also called for an object that the schema
   * rejects, because the user should get all errors at once; an exception for such an object is ignored.
   */
  validate?(
    object: DeepReadonly<Incoming<T>>,
    old: DeepReadonly<T> | undefined,
    context: ReviewContext<T>,
  ): Awaitable<readonly FieldError[]>
  /**
   * Validates with the help of the cluster. Called by the validating webhook with the final object, also when `validate` has rejected the
   * object, because the user should get all errors at once.
   */
  validateInCluster?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: AdmissionContext<T>): Awaitable<Verdict>
  /** Validates a deletion; without it every deletion is allowed. */
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext<T>): Awaitable<Verdict>
}

/** The handlers for one type or subresource without their static types, and their settings. */
export interface WebhookDefinition {
  readonly type: ResourceType
  /** Empty for the object itself. */
  readonly subresource: string
  readonly handlers: WebhookHandlers<JsonObject>
  readonly settings: WebhookSettings
}

/**
 * Defines admission webhooks. For a kind, its schema applies defaults and validates before the handlers are called; for any other type only
 * the handlers run.
 *
 * With a `subresource` (`scale`, `status`, `exec`, …) the webhook is called only for that subresource. The object is then the body of the
 * request to the subresource, for example a `Scale` or `PodExecOptions`.
 *
 * @example
 * defineWebhook(memcached, {
 * default: (object) => (object.spec.image === '' ? { ...object, spec: { ...object.spec, image: 'memcached:1.6' } } : object),
 * validate: (object, old) => (old && object.spec.size < old.spec.size ? [forbidden('spec.size', 'may not shrink')] : []),
 * })
 *
 * @example
 * defineWebhook(core.pod, {
 * subresource: 'exec',
 * validateInCluster: ({ command }) => (command[0] === 'rm' ? failure(403, 'Forbidden', 'nothing is removed by hand') : []),
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all errors: a match condition that does not compile, a malformed selector, …
 */
export function defineWebhook<R extends ResourceType, const Subresource extends string = ''>(
  type: R,
  definition: WebhookHandlers<ReviewedObject<R, Subresource>> & WebhookSettings & { readonly subresource?: Subresource } = {},
): WebhookDefinition {
  const { subresource = '' } = definition
  checkSettings(type, subresource, definition)
  const handlers = definition as unknown as WebhookHandlers<JsonObject>
  if ((schemaKindOf(type) === undefined || subresource !== '') && !hasHandlers(handlers)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The webhook for ${groupKindOf(type)} has no handlers.`)
  }
  const version = schemaKindOf(type)?.versions.find(({ name }) => name === type.version)
  if (version?.served === false && hasHandlers(handlers)) {
    const text = `The webhook for ${groupKindOf(type)} would never be called: its version ${type.version} is not served.`
    throw new ProreusError('PRO_CONFIG_INVALID', text)
  }
  const webhook: WebhookDefinition = { type, subresource, handlers, settings: definition }
  if (operationsOf(webhook).includes('DELETE') !== (handlers.validateDelete !== undefined)) {
    const text = `The webhook for ${groupKindOf(type)} must name DELETE in its operations and have a validateDelete, or neither of them.`
    throw new ProreusError('PRO_CONFIG_INVALID', text)
  }
  return Object.freeze(webhook)
}

/** Returns the operations that the webhook is called for: those in its settings, otherwise those for which there is a handler. */
export function operationsOf({ type, subresource, handlers, settings }: WebhookDefinition): readonly Operation[] {
  if (settings.operations !== undefined) return settings.operations
  if (subresource !== '') return [operationOf(subresource)]
  const aboutContent: readonly Operation[] = schemaKindOf(type) !== undefined || handlesContent(handlers) ? ['CREATE', 'UPDATE'] : []
  return handlers.validateDelete === undefined ? aboutContent : [...aboutContent, 'DELETE']
}

/** Returns the kind, if the type was defined with a schema. */
export function schemaKindOf(type: ResourceType): Kind | undefined {
  return kindOf(type)
}

function hasHandlers(handlers: WebhookHandlers<JsonObject>): boolean {
  return handlesContent(handlers) || handlers.validateDelete !== undefined
}

/** Returns whether a handler defaults or validates objects, as opposed to deletions only. */
function handlesContent({ default: fill, validate, validateInCluster }: WebhookHandlers<JsonObject>): boolean {
  return (fill ?? validate ?? validateInCluster) !== undefined
}
