/** `defineWebhook(type, handlers)`: what an operator has to say about objects before they are stored. */
import { ProreusError } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import { kindOf } from '../api/kind.ts'
import type { ObjectMeta } from '../api/object.ts'
import type { Status } from '../api/status.ts'
import type { AdmissionContext, Operation, ReviewContext } from './context.ts'
import type { WebhookSettings } from './settings.ts'
import { checkSettings } from './settings.ts'
import type { ReviewedObject } from './subresource.ts'
import { operationOf } from './subresource.ts'

export type { AdmissionContext, Operation, ReviewContext, UserInfo } from './context.ts'
export type { WebhookSettings } from './settings.ts'

type Awaitable<T> = T | Promise<T>

/**
 * An object on its way to the API server's storage. On a create it has neither `uid`, `creationTimestamp` nor `resourceVersion` yet, and
 * with `generateName` not even a name; the namespace is there.
 */
export type Incoming<T> = T extends { metadata: ObjectMeta }
  ? Omit<T, 'metadata'> & { metadata: Partial<ObjectMeta> & Pick<T['metadata'], 'namespace'> }
  : T

/** Empty means allowed. A failure `Status` refuses with exactly that, e.g. `failure(403, 'Forbidden', …)`. */
export type Verdict = readonly FieldError[] | Status

/**
 * Handlers; `T` is the object as stored, with the schema's defaults. Objects are frozen: return a changed copy.
 *
 * Several webhooks of one type, of one operator or of many, are asked in the order in which they are declared: each `default` sees what the
 * ones before it made of the object; errors add up, and what one refuses no later one can allow.
 */
export interface WebhookHandlers<T> {
  /**
   * Fills in what depends on more than the schema's defaults, which are there already; gives the changed copy, or the same object.
   * Fields that the schema requires may still be missing, so that they can be filled in here. Not called when a value has the wrong type.
   */
  default?(object: DeepReadonly<Incoming<T>>, context: ReviewContext<T>): Awaitable<DeepReadonly<Incoming<T>>>
  /**
   * What must hold beyond the schema, and can be said without the cluster. `old` is there on an update.
   * Also asked about an object that the schema refuses, so that the user gets all errors at once; what it throws then is ignored.
   */
  validate?(
    object: DeepReadonly<Incoming<T>>,
    old: DeepReadonly<T> | undefined,
    context: ReviewContext<T>,
  ): Awaitable<readonly FieldError[]>
  /**
   * What only the cluster can tell. Asked about the final object, in the validating webhook;
   * and about one that `validate` already refuses, so that the user gets all errors at once.
   */
  validateInCluster?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: AdmissionContext<T>): Awaitable<Verdict>
  /** Whether the object may be deleted; without it every delete is allowed. */
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext<T>): Awaitable<Verdict>
}

/** Handlers for one type or subresource, types erased, with what was declared beside them. */
export interface WebhookDefinition {
  readonly type: ResourceType
  /** Empty: the object itself. */
  readonly subresource: string
  readonly handlers: WebhookHandlers<JsonObject>
  readonly settings: WebhookSettings
}

/**
 * Defines admission webhooks: for a kind, whose schema then fills in defaults and validates before the handlers are asked; or for any other
 * type, where there are the handlers alone.
 *
 * With a `subresource` it is about that: `scale`, `status`, `exec`, … The object then is what the API server is sent for it, a `Scale` or
 * `PodExecOptions` for example.
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
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all that is wrong: a match condition that does not compile, a malformed selector, …
 */
export function defineWebhook<R extends ResourceType, const Subresource extends string = ''>(
  type: R,
  definition: WebhookHandlers<ReviewedObject<R, Subresource>> & WebhookSettings & { readonly subresource?: Subresource } = {},
): WebhookDefinition {
  const { subresource = '' } = definition
  checkSettings(type, subresource, definition)
  const handlers = definition as unknown as WebhookHandlers<JsonObject>
  if ((schemaKindOf(type) === undefined || subresource !== '') && !hasHandlers(handlers)) {
    throw new ProreusError('PRO_CONFIG_INVALID', `The webhook for ${groupKindOf(type)} has no handlers: there is nothing to ask it.`)
  }
  const version = schemaKindOf(type)?.versions.find(({ name }) => name === type.version)
  if (version?.served === false && hasHandlers(handlers)) {
    const text = `The webhook for ${groupKindOf(type)} would never be asked: its version ${type.version} is not served.`
    throw new ProreusError('PRO_CONFIG_INVALID', text)
  }
  const webhook: WebhookDefinition = { type, subresource, handlers, settings: definition }
  if (operationsOf(webhook).includes('DELETE') !== (handlers.validateDelete !== undefined)) {
    const text = `The webhook for ${groupKindOf(type)} must name DELETE in its operations and have a validateDelete, or neither of them.`
    throw new ProreusError('PRO_CONFIG_INVALID', text)
  }
  return Object.freeze(webhook)
}

/** The operations that the handlers want to be asked about. */
export function operationsOf({ type, subresource, handlers, settings }: WebhookDefinition): readonly Operation[] {
  if (settings.operations !== undefined) return settings.operations
  if (subresource !== '') return [operationOf(subresource)]
  const aboutContent: readonly Operation[] = schemaKindOf(type) !== undefined || handlesContent(handlers) ? ['CREATE', 'UPDATE'] : []
  return handlers.validateDelete === undefined ? aboutContent : [...aboutContent, 'DELETE']
}

/** The kind, where the type was defined with a schema. */
export function schemaKindOf(type: ResourceType): Kind | undefined {
  return kindOf(type)
}

function hasHandlers(handlers: WebhookHandlers<JsonObject>): boolean {
  return handlesContent(handlers) || handlers.validateDelete !== undefined
}

/** Whether they have a say in what an object is, and not only in its end. */
function handlesContent({ default: fill, validate, validateInCluster }: WebhookHandlers<JsonObject>): boolean {
  return (fill ?? validate ?? validateInCluster) !== undefined
}
