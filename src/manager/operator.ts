/** `defineOperator`: kinds with the webhooks and controllers that belong to them, as one unit to run, install and ship. */
import type { Kind } from '../api/kind.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import type { ControllerDefinition } from '../controller/builder.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { WebhookDefinition } from '../webhook/definition.ts'
import { ProreusError } from '../api/errors.ts'
import { groupKindOf, groupResourceOf } from '../api/group-version-kind.ts'
import { dns1123Label } from '../api/names.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { expect, hasOptions, isListOf, isResourceType, isText } from '../api/option-checks.ts'
import { combineWebhooks } from '../webhook/combine.ts'
import { missingConverters } from '../conversion/definition.ts'

export interface OperatorDefinition {
  /**
   * Lower case, digits and dashes; how `--operators` names it. It is the field manager of what the operator writes, its user agent and the
   * source of its events.
   */
  readonly name: string
  /** The operator's version, for its user agent: letters, digits, `.`, `-`, `+` and `_`. */
  readonly version?: string
  /** The custom kinds that it brings along. */
  readonly kinds: readonly Kind[]
  readonly webhooks?: readonly WebhookDefinition[]
  /** How objects get from one version of a kind to another: one for each kind whose versions have different fields. */
  readonly conversions?: readonly ConversionDefinition[]
  readonly controllers?: readonly ControllerDefinition[]
  /** What it needs to be allowed beyond what its webhooks and controllers declare. */
  readonly rbac?: readonly PolicyRule[]
}

/** What a function of ours returns, with at least these fields. */
function isMadeBy(maker: string, fields: readonly string[]): OptionCheck {
  return expect(`what ${maker} returns`, (value) => typeof value === 'object' && value !== null && fields.every((field) => field in value))
}

const operatorOptions = {
  name: isText,
  version: isText,
  kinds: isListOf(isResourceType),
  webhooks: isListOf(isMadeBy('defineWebhook', ['type', 'handlers', 'settings'])),
  conversions: isListOf(isMadeBy('defineConversion', ['kind', 'spokes'])),
  controllers: isListOf(isMadeBy('defineController', ['type', 'types', 'start'])),
  rbac: isListOf(isPolicyRule),
} satisfies Record<keyof OperatorDefinition, OptionCheck>
const checkDefinition = hasOptions(operatorOptions, ['name', 'kinds'])

function refuseOperator(name: string, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new ProreusError('PRO_CONFIG_INVALID', `The operator "${name}" is not well defined: ${problems.join('; ')}.`)
}

/** An operator that is complete and does not change any more. */
export interface Operator {
  readonly name: string
  readonly version?: string
  readonly kinds: readonly Kind[]
  readonly webhooks: readonly WebhookDefinition[]
  readonly conversions: readonly ConversionDefinition[]
  readonly controllers: readonly ControllerDefinition[]
  readonly rbac: readonly PolicyRule[]
}

/**
 * Defines an operator.
 *
 * @example
 * export const operator = defineOperator({
 *   name: 'memcached',
 *   kinds: [memcached],
 *   webhooks: [defineWebhook(memcached)],
 *   controllers: [defineController(memcached, { reconcile, owns: [apps.deployment] })],
 * })
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the name is malformed, something is there twice, its webhooks contradict each other, or
 * the versions of a kind have different fields and no conversion.
 */
export function defineOperator(definition: OperatorDefinition): Operator {
  refuseOperator(definition.name, checkDefinition(definition, ''))
  const { name, version, kinds, webhooks = [], conversions = [], controllers = [], rbac = [] } = definition
  const problems = [
    ...dns1123Label(name).map((message) => `name: ${message}`),
    ...(version === undefined || /^[\w.+-]+$/.test(version) ? [] : [`version: "${version}" has characters that a user agent cannot carry`]),
    ...duplicates(kinds.map(groupKindOf)).map((kind) => `kinds: ${kind} is there twice`),
    ...duplicates(conversions.map(({ kind }) => groupKindOf(kind))).map((kind) => `conversions: there are two for ${kind}: define one`),
    ...conversions
      .filter(({ kind }) => !kinds.includes(kind))
      .map(({ kind }) => `conversions: ${groupKindOf(kind)} is none of the operator's kinds`),
    ...kinds
      .filter((kind) => !conversions.some((conversion) => conversion.kind === kind))
      .flatMap((kind) => missingConverters(kind).map((problem) => `conversions: there is none for ${groupKindOf(kind)}: ${problem}`)),
    ...duplicates(controllers.map((controller) => controller.name)).map(
      (controller) => `controllers: two are called "${controller}": give one another name`,
    ),
  ]
  refuseOperator(name, problems)
  combineWebhooks(webhooks)
  return Object.freeze({
    name,
    ...(version !== undefined && { version }),
    kinds: Object.freeze([...kinds]),
    webhooks: Object.freeze([...webhooks]),
    conversions: Object.freeze([...conversions]),
    controllers: Object.freeze([...controllers]),
    rbac: Object.freeze([...rbac]),
  })
}

/** Whether a value is an operator, also one that another copy of this package has defined. */
export function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return false
  const { name, kinds, webhooks, conversions, controllers, rbac } = value as Partial<Record<keyof Operator, unknown>>
  return typeof name === 'string' && [kinds, webhooks, conversions, controllers, rbac].every((part) => Array.isArray(part))
}

/** The names of the CustomResourceDefinitions whose objects the operators' webhooks convert. */
export function convertedDefinitions(operators: readonly Operator[]): readonly string[] {
  return operators.flatMap(({ conversions }) =>
    conversions.filter(({ spokes }) => spokes.size > 0).map(({ kind }) => groupResourceOf(kind)),
  )
}

/** Refuses operators that cannot be in one process: two of one name, with controllers of one name, or with webhooks that contradict each other. */
export function checkOperators(operators: readonly Operator[]): void {
  const problems = [
    ...duplicates(operators.map(({ name }) => name)).map((name) => `two operators are called "${name}"`),
    ...duplicates(operators.flatMap(({ controllers }) => controllers.map(({ name }) => name))).map(
      (name) => `two controllers are called "${name}"`,
    ),
  ]
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `These operators cannot run together: ${problems.join('; ')}.`)
  combineWebhooks(operators.flatMap(({ webhooks }) => webhooks))
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
