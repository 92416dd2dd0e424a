/** Combines all webhooks for the same objects into one, with one entry in the webhook configurations, one path and one response. */
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

/** A webhook of one of the operators of a process. */
export interface OperatorWebhook extends WebhookDefinition {
  /** The client of its handlers, with the operator's field manager and user agent. Default: the client of the server. */
  readonly client?: Client
}

/** The webhooks to call for an operation, in declared order. */
export type OrderedWebhooks = readonly OperatorWebhook[]

/** A webhook as the server and the manifests need it: for one version of a type, or for one subresource. */
export interface CombinedWebhook {
  readonly type: ResourceType
  /** The kind, when its schema applies; undefined for other types and for subresources. */
  readonly schemaKind: Kind | undefined
  readonly version: string
  readonly subresource: string
  /** The `name` that the webhooks declare; empty by default. */
  readonly name: string
  readonly filters: WebhookFilters
  /** The webhooks with a handler, for each operation. */
  readonly handlers: Readonly<Record<Operation, OrderedWebhooks>>
  /** Path and operations of the mutating webhook; without operations it is not registered. */
  readonly mutating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly validating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly refuseInvalidEarly: boolean
  readonly reads: readonly ResourceType[]
  readonly timeoutSeconds: number
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  /** Undefined when no webhook declares one. */
  readonly reinvocationPolicy: 'Never' | 'IfNeeded' | undefined
}

const allOperations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const
/** The API server accepts no patch for a DELETE. */
const mutable: ReadonlySet<Operation> = new Set<Operation>(['CREATE', 'UPDATE', 'CONNECT'])

/**
 * Combines the webhooks of all operators of a process. A kind with several served versions results in one webhook for each version:
 * handlers for the kind are called in the stored version, handlers for a `versionOf` in that version. With `matchPolicy: Equivalent` the
 * API server converts objects of other versions for the stored version's webhook, too; the other versions' webhooks validate against their
 * schema.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when webhooks of one type select different requests and have no `name`.
 */
export function combineWebhooks(definitions: readonly OperatorWebhook[]): CombinedWebhook[] {
  const groups = new Map<string, OperatorWebhook[]>()
  // All versions of a kind are combined together, each with its own handlers.
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
  const judgesContent = schemaKind !== undefined
  // A webhook without handlers is not registered: it would only be a risk for the availability of the API server.
  const mutates = (operation: Operation): boolean =>
    mutable.has(operation) && (judgesContent || refuseInvalidEarly || isAnswered(operation, 'default'))
  const validates = (operation: Operation): boolean =>
    operation === 'DELETE'
      ? isAnswered(operation, 'validateDelete')
      : judgesContent || isAnswered(operation, 'validate', 'validateInCluster')
  return versions.map((version) => {
    const target = { ...type, version, subresource, name: first.name ?? '' }
    return Object.freeze({
      type,
      schemaKind,
      version,
      subresource,
      name: target.name,
      filters,
      handlers: handlersByOperation(definitions.filter((definition) => definition.type.version === version)),
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

/** Returns the kind whose schema the webhooks use; undefined when no webhook was defined with a kind that has a schema. */
function oneKind(definitions: readonly WebhookDefinition[]): Kind | undefined {
  const [kind, another] = new Set(definitions.map(({ type }) => schemaKindOf(type)).filter((one) => one !== undefined))
  if (kind === undefined || another === undefined) return kind
  throw new ProreusError('PRO_CONFIG_INVALID', `There are two definitions of ${groupKindOf(kind)}: define its webhooks with the same one.`)
}

/**
 * Returns whether invalid objects are rejected by the mutating webhook. Default: true for a kind with a schema, because the user would
 * otherwise get the schema's errors without the errors of the handlers. If one webhook declares false, that applies to all.
 */
function refusesEarly(settings: readonly WebhookSettings[], hasSchema: boolean): boolean {
  const explicit = settings.map(({ refuseInvalidEarly }) => refuseInvalidEarly).filter((one) => one !== undefined)
  return explicit.length === 0 ? hasSchema : explicit.every((one) => one)
}

function handlersByOperation(definitions: OrderedWebhooks): Readonly<Record<Operation, OrderedWebhooks>> {
  const of = (operation: Operation): OrderedWebhooks => definitions.filter((definition) => operationsOf(definition).includes(operation))
  return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') }
}

/** Returns the filters, which must be equal in all webhooks of an entry, because the API server evaluates them before it calls any. */
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

/** Two groups may result in the same path: `a.b` and `a-b`. */
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

/** Returns, for each operation, the webhooks that define at least one of these handlers. */
export function handlersWith(
  handlers: CombinedWebhook['handlers'],
  ...functions: readonly (keyof WebhookHandlers<JsonObject>)[]
): CombinedWebhook['handlers'] {
  const have = (all: OrderedWebhooks): OrderedWebhooks =>
    all.filter(({ handlers }) => functions.some((name) => handlers[name] !== undefined))
  const { CREATE, UPDATE, DELETE, CONNECT } = handlers
  return { CREATE: have(CREATE), UPDATE: have(UPDATE), DELETE: have(DELETE), CONNECT: have(CONNECT) }
}
