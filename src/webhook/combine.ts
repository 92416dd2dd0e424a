/** All handlers about the same objects as one webhook: one entry in the configurations, one path, one answer. */
import { ProreusError } from '../api/errors.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import { groupKindOf, groupResourceOf } from '../api/group-version-kind.ts'
import type { JsonObject } from '../api/json.ts'
import { jsonEqual } from '../api/json.ts'
import type { Kind } from '../api/kind.ts'
import type { Client } from '../client/client.ts'
import type { Operation } from './context.ts'
import type { WebhookDefinition, WebhookHandlers } from './definition.ts'
import { operationsOf, schemaKindOf } from './definition.ts'
import { mutatePath, validatePath } from './paths.ts'
import type { WebhookFilters, WebhookSettings } from './settings.ts'

/** A webhook of one of the operators of a process. */
export interface OperatorWebhook extends WebhookDefinition {
  /** What its handlers act with, under the name of their operator. Default: that of the server. */
  readonly client?: Client
}

/** Webhooks with handlers, in declared order. */
export type Handlers = readonly OperatorWebhook[]

/** A webhook as the server and the manifests see it: for one version of a type, or for one subresource. */
export interface CombinedWebhook {
  readonly type: ResourceType
  /** Where the object has a schema: neither for a type that is not ours, nor for a subresource. */
  readonly schemaKind: Kind | undefined
  readonly version: string
  readonly subresource: string
  /** Empty unless the handlers gave one. */
  readonly name: string
  readonly filters: WebhookFilters
  /** For each operation those handlers that want to be asked about it. */
  readonly handlers: Readonly<Record<Operation, Handlers>>
  /** About which operations the mutating webhook is asked, and where; none: there is no such entry. */
  readonly mutating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly validating: { readonly path: string; readonly operations: readonly Operation[] }
  readonly refuseInvalidEarly: boolean
  readonly reads: readonly ResourceType[]
  readonly timeoutSeconds: number
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  /** Undefined when nobody said one. */
  readonly reinvocationPolicy: 'Never' | 'IfNeeded' | undefined
}

const allOperations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const
/** The API server takes no patch for what is deleted. */
const mutable: ReadonlySet<Operation> = new Set<Operation>(['CREATE', 'UPDATE', 'CONNECT'])

/**
 * Combines the webhooks of all operators of a process. A kind with several served versions gives one for each: its handlers are written for
 * the stored one, those of `versionOf` for theirs; with `matchPolicy: Equivalent` the API server also sends them the objects of the other versions, converted, and the paths
 * of these apply their schema alone.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when handlers of one type are to be asked about different requests and have no `name`.
 */
export function combineWebhooks(definitions: readonly OperatorWebhook[]): CombinedWebhook[] {
  const groups = new Map<string, OperatorWebhook[]>()
  // The versions of a kind are combined together, each with its own handlers.
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
  // The API server is not to ask, and to depend on, who has nothing to say.
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

/** The kind with its schema, where one of the definitions knows it. */
function oneKind(definitions: readonly WebhookDefinition[]): Kind | undefined {
  const [kind, another] = new Set(definitions.map(({ type }) => schemaKindOf(type)).filter((one) => one !== undefined))
  if (kind === undefined || another === undefined) return kind
  throw new ProreusError('PRO_CONFIG_INVALID', `There are two definitions of ${groupKindOf(kind)}: define its webhooks with the same one.`)
}

/** An error of the schema is the user's, an error of one handler no reason to keep the others' from them. */
function refusesEarly(settings: readonly WebhookSettings[], hasSchema: boolean): boolean {
  const said = settings.map(({ refuseInvalidEarly }) => refuseInvalidEarly).filter((one) => one !== undefined)
  return said.length === 0 ? hasSchema : said.every((one) => one)
}

function handlersByOperation(definitions: Handlers): Readonly<Record<Operation, Handlers>> {
  const of = (operation: Operation): Handlers => definitions.filter((definition) => operationsOf(definition).includes(operation))
  return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') }
}

/** What all handlers of an entry have to agree on: the API server evaluates it before it asks any of them. */
function sameFilters(definitions: readonly WebhookDefinition[]): WebhookFilters {
  const [first, ...others] = definitions.map(({ settings }) => filtersOf(settings))
  const fields = ['matchConditions', 'objectSelector', 'namespaceSelector', 'scope', 'matchPolicy'] as const
  for (const field of fields) {
    if (others.every((other) => jsonEqual(other[field], first![field]))) continue
    const { type, subresource } = definitions[0]!
    const about = `${groupKindOf(type)}${subresource === '' ? '' : `/${subresource}`}`
    const advice = 'say the same in all of them, or give those that differ a `name`, and with it an entry of their own'
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

/** Two groups may have one path: `a.b` and `a-b` do not differ in it. */
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
