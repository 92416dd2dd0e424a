/** `defineWebhook(type, handlers)`: defines admission webhooks. */
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
 * The object of an admission request. For a namespaced type, the namespace is always set. On CREATE, the API server has not yet set these
 * fields:
 *
 * - `resourceVersion`.
 * - In a mutating webhook, also `uid`, `creationTimestamp`, and the name of an object with `generateName`. The API server sets these fields
 *   before it calls the validating webhooks.
 */
export type Incoming<T> = T extends { metadata: ObjectMeta }
  ? Omit<T, 'metadata'> & { metadata: Partial<ObjectMeta> & Pick<T['metadata'], 'namespace'> }
  : T

/**
 * The result of a handler. With an empty list, the handler allows the request. With a list of errors, the handler denies the request, and
 * the user gets these errors. With a failure `Status`, e.g. `failure(403, 'Forbidden', …)`, the handler denies the request, and the user
 * gets this `Status` unchanged.
 */
export type Verdict = readonly FieldError[] | Status

/**
 * The handlers of a webhook. `T` is the type of the object after the defaults of the schema have been applied. Objects are frozen, so
 * handlers return a changed copy.
 *
 * Several webhooks of one or more operators can have handlers for the same type:
 *
 * - The handlers are called in the order in which the webhooks are declared.
 * - Each `default` handler receives the result of the previous `default` handler.
 * - The errors of all validation handlers are collected. When a handler returns a failure `Status`, no further validation handler is
 *   called.
 */
export interface WebhookHandlers<T> {
  /**
   * Applies defaults that the schema cannot express. Returns a changed copy, or the same object. The defaults of the schema have already
   * been applied. Required fields may still be missing, and this handler may set them. The handler is not called when a field has a value
   * of the wrong type.
   */
  default?(object: DeepReadonly<Incoming<T>>, context: ReviewContext<T>): Awaitable<DeepReadonly<Incoming<T>>>
  /**
   * Validates rules that the schema cannot express, without reading the cluster. `old` is defined for an update. The handler is also called
   * for an object that the schema rejects, so that the user gets all errors at the same time. An exception that the handler throws for such
   * an object is ignored.
   */
  validate?(
    object: DeepReadonly<Incoming<T>>,
    old: DeepReadonly<T> | undefined,
    context: ReviewContext<T>,
  ): Awaitable<readonly FieldError[]>
  /**
   * Validates an object with reads from the cluster. The validating webhook calls this handler with the final object.
   *
   * If `refuseInvalidEarly` is true, the mutating webhook also calls this handler when the schema accepts the object, but a `validate`
   * handler rejects it. The user then gets the errors of both handlers.
   */
  validateInCluster?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: AdmissionContext<T>): Awaitable<Verdict>
  /** Validates a deletion. Without this handler, every deletion is allowed. */
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext<T>): Awaitable<Verdict>
}

/** The handlers and settings of a webhook for one type or subresource. The handlers have no static types for their objects. */
export interface WebhookDefinition {
  readonly type: ResourceType
  /** The name of the subresource. Empty if the webhook is for the type itself, and not for a subresource. */
  readonly subresource: string
  readonly handlers: WebhookHandlers<JsonObject>
  readonly settings: WebhookSettings
}

/**
 * Defines admission webhooks for a type. If the type is a custom kind (`defineKind`) or a version of a custom kind (`versionOf`), the
 * schema of the kind applies defaults and validates the object before the handlers are called.
 *
 * With a `subresource` (`scale`, `status`, `exec`, …), the webhooks are only for requests to this subresource. The object is then the body
 * of the request, for example a `Scale` or `PodExecOptions`, and no schema is used.
 *
 * @example
 * defineWebhook(memcached, {
 *   default: (object) => (object.spec.image === '' ? { ...object, spec: { ...object.spec, image: 'memcached:1.6' } } : object),
 *   validate: (object, old) => (old && object.spec.size < old.spec.size ? [forbidden('spec.size', 'may not shrink')] : []),
 * })
 *
 * @example
 * defineWebhook(core.pod, {
 *   subresource: 'exec',
 *   validateInCluster: ({ command }) => (command[0] === 'rm' ? failure(403, 'Forbidden', 'nothing is removed by hand') : []),
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all errors, for example a match condition that does not compile or a malformed selector.
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

/**
 * Returns the operations for which the API server calls the webhook. For a subresource, the default is the operation of its requests. For
 * the objects of a type, the default is all operations that the schema or the handlers need.
 */
export function operationsOf({ type, subresource, handlers, settings }: WebhookDefinition): readonly Operation[] {
  if (settings.operations !== undefined) return settings.operations
  if (subresource !== '') return [operationOf(subresource)]
  const aboutContent: readonly Operation[] = schemaKindOf(type) !== undefined || handlesContent(handlers) ? ['CREATE', 'UPDATE'] : []
  return handlers.validateDelete === undefined ? aboutContent : [...aboutContent, 'DELETE']
}

/** Returns the kind that the type belongs to; undefined when the type was not defined with a schema. */
export function schemaKindOf(type: ResourceType): Kind | undefined {
  return kindOf(type)
}

function hasHandlers(handlers: WebhookHandlers<JsonObject>): boolean {
  return handlesContent(handlers) || handlers.validateDelete !== undefined
}

/**
 * Returns true if the webhook has a `default`, `validate` or `validateInCluster` handler. The handler `validateDelete` does not count,
 * because it is only for deletions.
 */
function handlesContent({ default: fill, validate, validateInCluster }: WebhookHandlers<JsonObject>): boolean {
  return (fill ?? validate ?? validateInCluster) !== undefined
}
