/**
 * Validates an object without a cluster. The schema and the handlers `default` and `validate` are used, but `validateInCluster` is not
 * called.
 */
import type { ErrorList } from '../api/error-list.ts'
import { addErrors, isEmpty, joinErrors, noErrors, omission } from '../api/error-list.ts'
import { messageOf } from '../api/errors.ts'
import type { FieldError } from '../api/field-error.ts'
import { forbidden, invalid, notSupported, sortFieldErrors } from '../api/field-error.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { apiVersionOf, parseApiVersion } from '../api/group-version-kind.ts'
import type { JsonObject } from '../api/json.ts'
import { getOwn, isObject } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { Labels } from '../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../api/label-selector.ts'
import { decodeObjectMeta } from '../api/object-meta-json.ts'
import { suggestion } from '../api/option-checks.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { Dropped } from '../conversion/converter.ts'
import { createConverter } from '../conversion/converter.ts'
import { schemaOf, validateObject } from '../schema/kind-schema.ts'
import type { Logger } from '../telemetry/logger.ts'
import { silentLogger } from '../telemetry/logger.ts'
import type { CombinedWebhook, OrderedWebhooks } from './definition/combine.ts'
import { combineWebhooks } from './definition/combine.ts'
import type { ReviewContext } from './definition/context.ts'
import type { WebhookDefinition } from './definition/definition.ts'
import { defineWebhook } from './definition/definition.ts'
import { isRuledOut } from './definition/match-condition.ts'
import type { Defaulted } from './handlers/mutating.ts'
import { applyDefaultHandlers } from './handlers/mutating.ts'
import { checkAuditKey } from './handlers/handler-context.ts'
import { ownErrors } from './handlers/verdict.ts'

export interface OfflineReview {
  /**
   * Tells whether the operators know the kind or the API group of the object:
   *
   * - False when the operators have no webhook for the kind and define no kind of the API group. The object is then not validated, and
   *   `errors` and `warnings` are empty.
   * - True in all other cases. If the operators define other kinds of the API group, but neither define the kind of the object nor have a
   *   webhook for it, `errors` contains only an error about the kind.
   */
  readonly known: boolean
  readonly kind: string
  readonly name: string
  readonly valid: boolean
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/**
 * Validates an object as the API server validates a create request with strict field validation, which is kubectl's default. The validation
 * depends on the kind:
 *
 * - If the kind has webhooks, its schema (if any) and the handlers `default` and `validate` of these webhooks validate the object. The
 *   handlers are called in the order in which their webhooks are declared.
 * - If the kind has no webhook but is in `kinds`, only its schema validates the object.
 * - If the kind has no webhook and is not in `kinds`, but `kinds` contains another kind of its API group, the result contains an error.
 */
export async function reviewOffline(
  definitions: readonly WebhookDefinition[],
  object: JsonObject,
  logger: Logger = silentLogger(),
  conversions: readonly ConversionDefinition[] = [],
  kinds: readonly Kind[] = [],
): Promise<OfflineReview> {
  const { group, version } = parseApiVersion(textOf(getOwn(object, 'apiVersion')))
  const kind = textOf(getOwn(object, 'kind'))
  const metadata = getOwn(object, 'metadata')
  const name = isObject(metadata) ? textOf(metadata.name) || textOf(metadata.generateName) : ''
  const declared = combineWebhooks(definitions).filter(
    ({ type, subresource }) => subresource === '' && type.group === group && type.kind === kind,
  )
  const known = kinds.find((one) => one.group === group && one.kind === kind)
  // If a kind has no webhook, the API server validates its objects only with the schema. A webhook without handlers does the same here.
  const webhooks = declared.length > 0 || known === undefined ? declared : combineWebhooks([defineWebhook(known as ResourceType, {})])
  if (webhooks.length === 0) {
    const errors = unknownKind(group, kind, kinds)
    return { known: errors.length > 0, kind, name, valid: errors.length === 0, errors, warnings: [] }
  }
  const warnings = new Set<string>()
  const context = contextOf(webhooks[0]!.type, object, logger, warnings)
  const own = await errorsOf(webhooks, object, version, context)
  const errors = isEmpty(own) ? await errorsInHub(webhooks, conversions, object, version, context) : own
  const more = omission(errors)
  const listed = sortFieldErrors(errors.listed)
  return {
    known: true,
    kind,
    name,
    valid: isEmpty(errors),
    errors: more === undefined ? listed : [...listed, more],
    warnings: [...warnings],
  }
}

/** Returns an error when `kinds` contains a kind of the group `group`, but not the kind `kind`. */
function unknownKind(group: string, kind: string, kinds: readonly Kind[]): FieldError[] {
  const names = kinds.filter((one) => one.group === group).map((one) => one.kind)
  if (names.length === 0) return []
  const meant = suggestion(kind, names) || `, which has ${names.sort().join(', ')}`
  return [invalid('kind', kind, `is not a kind of ${group}${meant}`)]
}

/**
 * Converts a valid object to the stored version. Returns the errors of the conversion, and the errors of the schema and the handlers of the
 * stored version.
 */
async function errorsInHub(
  webhooks: readonly CombinedWebhook[],
  conversions: readonly ConversionDefinition[],
  object: JsonObject,
  version: string,
  context: ReviewContext<JsonObject>,
): Promise<ErrorList> {
  const kind = webhooks.find(({ schemaKind }) => schemaKind !== undefined)?.schemaKind
  if (kind === undefined || kind.version === version) return noErrors
  const conversion = conversions.find((one) => one.kind === kind) ?? { kind, lossless: false, spokes: new Map() }
  try {
    const defaulted = schemaOf(kind, version).default(object)
    const lost: FieldError[] = []
    const call = {
      signal: context.signal,
      logger: context.logger,
      dropped: ({ paths, text }: Dropped) => void lost.push(...paths.map((path) => forbidden(path, text))),
    }
    const converted = await createConverter(conversion).convert(defaulted, kind.version, call)
    return joinErrors(listOf(lost), await errorsOf(webhooks, converted, kind.version, context))
  } catch (error) {
    return listOf([invalid('<nil>', '', `the conversion to ${kind.version} failed: ${messageOf(error)}`)])
  }
}

async function errorsOf(
  webhooks: readonly CombinedWebhook[],
  object: JsonObject,
  version: string,
  context: ReviewContext<JsonObject>,
): Promise<ErrorList> {
  const { group } = webhooks[0]!.type
  const served = [...new Set(webhooks.map((webhook) => apiVersionOf({ group, version: webhook.version })))]
  const apiVersion = apiVersionOf({ group, version })
  if (!served.includes(apiVersion)) return listOf([notSupported('apiVersion', apiVersion, served)])
  const selected = webhooks.filter((webhook) => webhook.version === version && isSelected(webhook, object))
  const called = selected.flatMap((webhook) => webhook.webhooks.CREATE)
  const kind = webhooks.find(({ schemaKind }) => schemaKind !== undefined)?.schemaKind
  return kind === undefined
    ? errorsOfHandlers(called, { object: inNamespace(webhooks[0]!.type, object), errors: noErrors }, context, () => noErrors)
    : errorsOfKind(called, kind, object, version, context)
}

/** Validates an object whose kind has a schema. */
async function errorsOfKind(
  webhooks: OrderedWebhooks,
  kind: Kind,
  object: JsonObject,
  version: string,
  context: ReviewContext<JsonObject>,
): Promise<ErrorList> {
  const schema = schemaOf(kind, version)
  const metadata = decodeObjectMeta(object.metadata ?? null)
  // Metadata that cannot be decoded cannot be validated.
  if (metadata.error !== undefined) return listOf([invalid('metadata', object.metadata ?? '', metadata.error)])
  const pruned = schema.prune(inNamespace(kind, { ...object, metadata: metadata.metadata }))
  if (pruned.malformed !== undefined) return listOf([pruned.malformed])
  const unknownPaths = [
    ...metadata.unknown.map((path) => `metadata.${path}`),
    ...pruned.unknown,
    // These are the unknown fields inside built-in types (`Type.Builtin`), e.g. in a Pod template. The CRD's schema does not describe
    // built-in types, so the API server stores these fields. In a cluster, the webhook only returns warnings about these fields. The
    // offline validation reports each of these fields as an error. With strict field validation, all other unknown fields are also errors.
    ...schema.unknownFields(pruned.object),
  ]
  const unknown = listOf(unknownPaths.map((path) => forbidden(path, 'unknown field')))
  const defaulted = schema.default(pruned.object)
  const bySchema = { object: defaulted, errors: listOf(schema.validate(defaulted)) }
  const check = (changed: JsonObject): ErrorList => listOf(validateObject(kind, changed, { version }))
  return joinErrors(unknown, await errorsOfHandlers(webhooks, bySchema, context, check))
}

/**
 * Applies the `default` handlers, validates each result with `check`, and returns the errors of the schema and of the `validate` handlers.
 */
async function errorsOfHandlers(
  webhooks: OrderedWebhooks,
  bySchema: Defaulted,
  context: ReviewContext<JsonObject>,
  check: (object: JsonObject) => ErrorList,
): Promise<ErrorList> {
  let errors: ErrorList | undefined
  try {
    const { object } = await applyDefaultHandlers(webhooks, bySchema, context, check)
    errors = check(object)
    return joinErrors(errors, await ownErrors(webhooks, object, context, errors))
  } catch (error) {
    return addErrors(errors ?? check(bySchema.object), [failedOn(error)])
  }
}

function listOf(errors: readonly FieldError[]): ErrorList {
  return addErrors(noErrors, errors)
}

function failedOn(error: unknown): FieldError {
  return invalid('<nil>', '', `the kind's own validation failed: ${messageOf(error)}`)
}

/**
 * Returns true if the API server would call the webhook for the object. Filters that depend on the cluster or on the requester are assumed
 * to match.
 */
function isSelected({ filters: { objectSelector, matchConditions = [] } }: CombinedWebhook, object: JsonObject): boolean {
  const labels = isObject(object.metadata) && isObject(object.metadata.labels) ? object.metadata.labels : {}
  const isLabelled = objectSelector === undefined || matchesLabels(requirementsOf(objectSelector), labels as Labels)
  return isLabelled && !isRuledOut(matchConditions, object)
}

/** Sets the namespace `default` if the object has no namespace, as kubectl does. */
function inNamespace(type: ResourceType, object: JsonObject): JsonObject {
  const { metadata } = object
  return type.namespaced && isObject(metadata) && metadata.namespace === undefined
    ? { ...object, metadata: { ...metadata, namespace: 'default' } }
    : object
}

function contextOf(type: ResourceType, object: JsonObject, logger: Logger, warnings: Set<string>): ReviewContext<JsonObject> {
  const { group, version, plural } = type
  const { metadata } = inNamespace(type, object)
  const { namespace, name } = isObject(metadata) ? metadata : noMetadata
  return {
    operation: 'CREATE',
    dryRun: true,
    user: { username: '' },
    namespace: textOf(namespace),
    name: textOf(name),
    resource: { group, version, resource: plural },
    subResource: '',
    options: {},
    oldObject: undefined,
    signal: new AbortController().signal,
    logger,
    warn: (text) => void (text !== '' && warnings.add(text)),
    audit: checkAuditKey,
  }
}

const noMetadata: JsonObject = Object.freeze({})

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
