/**
 * Combines the webhooks that several operators define for the same objects. The combined webhook has one entry in the webhook configuration
 * and one path, and it sends one response.
 */
import { ProreusError } from '../../api/errors.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import { groupKindOf, groupResourceOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import type { Kind } from '../../api/kind.ts'
import type { Client } from '../../client/client.ts'
import type { Operation } from './context.ts'
import type { WebhookDefinition, WebhookHandlers } from './definition.ts'
import { operationsOf, schemaKindOf } from './definition.ts'
import { mutatePath, validatePath } from './paths.ts'
import type { WebhookFilters, WebhookSettings } from './settings.ts'

/** A webhook of one of the operators in the process. */
export interface OperatorWebhook extends WebhookDefinition {
  /**
   * The client for the handlers of this webhook, with the field manager and user agent of its operator. Default: the client of the webhook
   * server.
   */
  readonly client?: Client
}

/** The webhooks whose handlers are called for an operation, in the order in which they are declared. */
export type OrderedWebhooks = readonly OperatorWebhook[]

/**
 * The webhook that results from combining the webhooks of all operators for one version of a type, or for one subresource. Webhooks with
 * different values of `name` are not combined. The webhook server and the generator of the manifests use combined webhooks.
 */
export interface CombinedWebhook {
  readonly type: ResourceType
  /** The kind whose schema validates the objects; undefined for a type that was not defined as a kind, and for subresources. */
  readonly schemaKind: Kind | undefined
  readonly version: string
  readonly subresource: string
  /** The `name` that the webhooks declare; empty when they declare no name. */
  readonly name: string
  readonly filters: WebhookFilters
  /** For each operation, the webhooks that are called for this operation, in the order in which they are declared. */
  readonly webhooks: Readonly<Record<Operation, OrderedWebhooks>>
  /** The path and operations of the mutating webhook. If `operations` is empty, no mutating webhook is registered. */
  readonly mutating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly validating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly refuseInvalidEarly: boolean
  readonly reads: readonly ResourceType[]
  readonly timeoutSeconds: number
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  /** Undefined when none of the combined webhooks declares a `reinvocationPolicy`. */
  readonly reinvocationPolicy: 'Never' | 'IfNeeded' | undefined
}

const allOperations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const
/** The operations that a mutating webhook may have. The API server accepts no patch for a DELETE. */
const mutable: ReadonlySet<Operation> = new Set<Operation>(['CREATE', 'UPDATE', 'CONNECT'])

/**
 * Combines the webhooks of all operators in the process. Webhooks with different values of `name` are not combined. If a kind has several
 * served versions, the result contains one webhook for each served version. The webhook of a version validates objects with the schema of
 * this version.
 *
 * Each handler belongs to one webhook:
 *
 * - A handler that is defined for the kind itself belongs to the webhook of the storage version. With `matchPolicy: Equivalent`, the API
 *   server also calls this webhook for requests with other versions, and converts their objects to the storage version.
 * - A handler that is defined for a version of the kind (see `versionOf`) belongs to the webhook of that version.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` in these cases:
 *
 * - Webhooks for the same type and subresource have the same `name` or no `name`, but different filters.
 * - One type has two kind definitions.
 * - Two webhooks would have the same path.
 */
export function combineWebhooks(definitions: readonly OperatorWebhook[]): CombinedWebhook[] {
  const groups = new Map<string, OperatorWebhook[]>()
  // If a kind has a schema, one call of `combine` creates the webhooks for all served versions of the kind, and needs the definitions for
  // all these versions. These definitions are therefore in one group, and the key of this group contains no version.
  const kinds = new Set(definitions.filter(({ type }) => schemaKindOf(type) !== undefined).map(({ type }) => groupResourceOf(type)))
  for (const definition of definitions) {
    const { group, version, plural } = definition.type
    const ofVersion = definition.subresource === '' && kinds.has(groupResourceOf(definition.type)) ? '' : version
    const key = [group, ofVersion, plural, definition.subresource, definition.settings.name ?? ''].join('/')
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [definition])
    else known.push(definition)
  }
  const combined = [...groups.values()].flatMap(combine)
  refuseDuplicates(combined)
  return combined
}

function combine(definitions: readonly OperatorWebhook[]): CombinedWebhook[] {
  const { subresource, settings: first } = definitions[0]!
  const filters = sameFilters(definitions)
  const kind = oneKind(definitions)
  const type = kind ?? definitions[0]!.type
  const schemaKind = subresource === '' ? kind : undefined
  const versions = schemaKind?.versions.filter(({ served }) => served).map(({ name }) => name) ?? [type.version]
  const all = definitions.map(({ settings }) => settings)
  const operations = allOperations.filter((operation) => definitions.some((definition) => operationsOf(definition).includes(operation)))
  const refuseInvalidEarly = refusesEarly(all, schemaKind !== undefined)
  const isAnswered = (operation: Operation, ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]): boolean =>
    definitions.some(
      (definition) => operationsOf(definition).includes(operation) && functions.some((name) => definition.handlers[name] !== undefined),
    )
  const hasSchema = schemaKind !== undefined
  // A webhook is registered only for the operations that the schema or a handler needs. Calls for other operations would only slow down the
  // API server.
  const mutates = (operation: Operation): boolean =>
    mutable.has(operation) && (hasSchema || refuseInvalidEarly || isAnswered(operation, 'default'))
  const validates = (operation: Operation): boolean =>
    operation === 'DELETE' ? isAnswered(operation, 'validateDelete') : hasSchema || isAnswered(operation, 'validate', 'validateInCluster')
  return versions.map((version) => {
    const target = { ...type, version, subresource, name: first.name ?? '' }
    return Object.freeze({
      type,
      schemaKind,
      version,
      subresource,
      name: target.name,
      filters,
      webhooks: webhooksByOperation(definitions.filter((definition) => definition.type.version === version)),
      mutating: { path: mutatePath(target), operations: operations.filter(mutates) },
      validating: { path: validatePath(target), operations: operations.filter(validates) },
      refuseInvalidEarly,
      reads: all.flatMap(({ reads = [] }) => reads),
      timeoutSeconds: Math.max(...all.map(({ timeoutSeconds = 10 }) => timeoutSeconds)),
      failurePolicy: all.every(({ failurePolicy }) => failurePolicy === 'Ignore') ? 'Ignore' : 'Fail',
      sideEffects: all.some(({ sideEffects }) => sideEffects === 'NoneOnDryRun') ? 'NoneOnDryRun' : 'None',
      reinvocationPolicy: all.some(({ reinvocationPolicy }) => reinvocationPolicy === 'IfNeeded')
        ? 'IfNeeded'
        : all.find(({ reinvocationPolicy }) => reinvocationPolicy !== undefined)?.reinvocationPolicy,
    })
  })
}

/** Returns the kind whose schema the webhooks use; undefined when none of them was defined for a kind with a schema. */
function oneKind(definitions: readonly WebhookDefinition[]): Kind | undefined {
  const [kind, another] = new Set(definitions.map(({ type }) => schemaKindOf(type)).filter((one) => one !== undefined))
  if (kind === undefined || another === undefined) return kind
  throw new ProreusError('PRO_CONFIG_INVALID', `There are two definitions of ${groupKindOf(kind)}: define its webhooks with the same one.`)
}

/**
 * Returns the common value of `refuseInvalidEarly` for webhooks that are combined (see settings.ts):
 *
 * - If no webhook sets the option, the value is true for a kind with a schema, and false for other types and for subresources.
 * - If at least one webhook sets the option to false, the value is false.
 * - Otherwise, the value is true.
 */
function refusesEarly(settings: readonly WebhookSettings[], hasSchema: boolean): boolean {
  const explicit = settings.map(({ refuseInvalidEarly }) => refuseInvalidEarly).filter((one) => one !== undefined)
  return explicit.length === 0 ? hasSchema : explicit.every((one) => one)
}

function webhooksByOperation(definitions: OrderedWebhooks): Readonly<Record<Operation, OrderedWebhooks>> {
  const of = (operation: Operation): OrderedWebhooks => definitions.filter((definition) => operationsOf(definition).includes(operation))
  return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') }
}

/**
 * Returns the filters of webhooks that share an entry in the webhook configuration. The filters must be equal, because an entry has only
 * one set of filters.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the filters differ.
 */
function sameFilters(definitions: readonly WebhookDefinition[]): WebhookFilters {
  const [first, ...others] = definitions.map(({ settings }) => filtersOf(settings))
  const fields = ['matchConditions', 'objectSelector', 'namespaceSelector', 'scope', 'matchPolicy'] as const
  for (const field of fields) {
    if (others.every((other) => jsonEqual(other[field], first![field]))) continue
    const { type, subresource } = definitions[0]!
    const about = `${groupKindOf(type)}${subresource === '' ? '' : `/${subresource}`}`
    const advice = 'use the same value in all of them, or set a `name` on those that differ, which gives them an entry of their own'
    throw new ProreusError('PRO_CONFIG_INVALID', `The webhooks for ${about} differ in ${field}: ${advice}.`)
  }
  return first!
}

function filtersOf({ matchConditions, objectSelector, namespaceSelector, scope, matchPolicy }: WebhookSettings): WebhookFilters {
  return {
    ...(matchConditions === undefined ? {} : { matchConditions }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(scope === undefined ? {} : { scope }),
    ...(matchPolicy === undefined ? {} : { matchPolicy }),
  }
}

/** Throws when two types result in the same path. For example, the groups `a.b` and `a-b` both become `a-b` in a path. */
function refuseDuplicates(combined: readonly CombinedWebhook[]): void {
  const paths = new Map<string, ResourceType>()
  for (const { type, validating } of combined) {
    const other = paths.get(validating.path)
    if (other !== undefined) {
      const text = `The webhooks for ${groupKindOf(other)} and ${groupKindOf(type)} would both be served at ${validating.path}: rename one.`
      throw new ProreusError('PRO_CONFIG_INVALID', text)
    }
    paths.set(validating.path, type)
  }
}

/** Returns, for each operation, the webhooks that define at least one of the handlers named in `functions`. */
export function webhooksWith(
  webhooks: CombinedWebhook['webhooks'],
  ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]
): CombinedWebhook['webhooks'] {
  const have = (all: OrderedWebhooks): OrderedWebhooks =>
    all.filter(({ handlers }) => functions.some((name) => handlers[name] !== undefined))
  const { CREATE, UPDATE, DELETE, CONNECT } = webhooks
  return { CREATE: have(CREATE), UPDATE: have(UPDATE), DELETE: have(DELETE), CONNECT: have(CONNECT) }
}
