/** `defineOperator`: defines kinds with their webhooks and controllers as one unit that is run, installed and packaged. */
import type { Kind } from '../api/kind.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import type { ControllerDefinition } from '../controller/builder.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { WebhookDefinition } from '../webhook/definition/definition.ts'
import { ProreusError } from '../api/errors.ts'
import { groupKindOf, groupResourceOf } from '../api/group-version-kind.ts'
import { dns1123Label } from '../api/name-syntax.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { expect, hasOptions, isListOf, isResourceType, isText } from '../api/option-checks.ts'
import { combineWebhooks } from '../webhook/definition/combine.ts'
import { missingConverters } from '../conversion/definition.ts'
import type { HealthChecks } from './operator-checks.ts'
import { areChecks, checkNameProblems } from './operator-checks.ts'
import type { Runnable } from './runnable.ts'
import { isRunnable } from './runnable.ts'

export interface OperatorDefinition {
  /**
   * The name consists of lower case letters, digits and dashes. It selects the operator in `--operators`. The name is also the field
   * manager of the operator's requests, and the source of the operator's events. The user agent of the requests contains the name and the
   * version.
   */
  readonly name: string
  /** The operator's version, which is part of its user agent. It may contain letters, digits, `.`, `-`, `+` and `_`. */
  readonly version?: string
  /** The custom resource kinds that the operator defines. */
  readonly kinds: readonly Kind[]
  readonly webhooks?: readonly WebhookDefinition[]
  /** The conversions between the versions of kinds. A kind whose versions have different fields needs a conversion. */
  readonly conversions?: readonly ConversionDefinition[]
  readonly controllers?: readonly ControllerDefinition[]
  /** RBAC rules in addition to the rules of the operator's kinds, webhooks, controllers and runnables. */
  readonly rbac?: readonly PolicyRule[]
  /** Background tasks, for example an importer or a periodic job. */
  readonly runnables?: readonly Runnable[]
  /** Health checks in addition to those of the process. */
  readonly checks?: HealthChecks
}

/**
 * Returns a check for the results of the function with the name `maker`. The check accepts an object that has all properties in `fields`.
 */
function isMadeBy(maker: string, fields: readonly string[]): OptionCheck {
  return expect(`what ${maker} returns`, (value) => typeof value === 'object' && value !== null && fields.every((field) => field in value))
}

const operatorOptions = {
  name: isText,
  version: isText,
  kinds: isListOf(isResourceType),
  webhooks: isListOf(isMadeBy('defineWebhook', ['type', 'handlers', 'settings'])),
  conversions: isListOf(isMadeBy('defineConversion', ['kind', 'spokes'])),
  controllers: isListOf(isMadeBy('defineController', ['type', 'types', 'prepare'])),
  rbac: isListOf(isPolicyRule),
  runnables: isListOf(isRunnable),
  checks: areChecks,
} satisfies Record<keyof OperatorDefinition, OptionCheck>
const checkDefinition = hasOptions(operatorOptions, ['name', 'kinds'])

function refuseOperator(name: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `The operator "${name}" is invalid: ${problems.join('; ')}.`)
}

/** An operator to which the defaults have been applied. It is immutable. */
export interface Operator {
  readonly name: string
  readonly version?: string
  readonly kinds: readonly Kind[]
  readonly webhooks: readonly WebhookDefinition[]
  readonly conversions: readonly ConversionDefinition[]
  readonly controllers: readonly ControllerDefinition[]
  readonly rbac: readonly PolicyRule[]
  readonly runnables: readonly Runnable[]
  readonly checks: Required<HealthChecks>
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
 * @throws {ProreusError} `PRO_CONFIG_INVALID` in these cases:
 *
 * - An option is invalid.
 * - A kind is listed twice, or has two conversions.
 * - The kind of a conversion is not in `kinds`.
 * - The versions of a kind have different fields, and the kind has no conversion.
 * - Webhooks conflict.
 * - Two controllers, two runnables or two health checks of a probe have the same name.
 * - Two controllers of a type have the same finalizer.
 */
export function defineOperator(definition: OperatorDefinition): Operator {
  refuseOperator(definition.name, checkDefinition(definition, ''))
  const { name, version, kinds, webhooks = [], conversions = [], controllers = [], rbac = [], runnables = [], checks = {} } = definition
  const problems = [
    ...dns1123Label(name).map((message) => `name: ${message}`),
    ...(version === undefined || /^[\w.+-]+$/.test(version) ? [] : [`version: "${version}" has characters that a user agent cannot carry`]),
    ...duplicates(kinds.map(groupKindOf)).map((kind) => `kinds: ${kind} is listed twice`),
    ...duplicates(conversions.map(({ kind }) => groupKindOf(kind))).map((kind) => `conversions: there are two for ${kind}: define one`),
    ...conversions
      .filter(({ kind }) => !kinds.includes(kind))
      .map(({ kind }) => `conversions: ${groupKindOf(kind)} is not one of the operator's kinds`),
    ...kinds
      .filter((kind) => !conversions.some((conversion) => conversion.kind === kind))
      .flatMap((kind) => missingConverters(kind).map((problem) => `conversions: missing for ${groupKindOf(kind)}: ${problem}`)),
    ...duplicates(controllers.map((controller) => controller.name)).map(
      (controller) => `controllers: two are named "${controller}": rename one`,
    ),
    ...sameFinalizers(controllers),
    ...runnables.flatMap((runnable) => dns1123Label(runnable.name).map((message) => `runnables: "${runnable.name}": ${message}`)),
    ...checkNameProblems(checks),
    ...sameNames([{ runnables, checks: { healthz: [], readyz: [], ...checks } }]),
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
    runnables: Object.freeze([...runnables]),
    checks: Object.freeze({ healthz: Object.freeze([...(checks.healthz ?? [])]), readyz: Object.freeze([...(checks.readyz ?? [])]) }),
  })
}

/** Returns whether a value is an operator. This includes operators that another copy of this package has defined. */
export function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return false
  const { name, kinds, webhooks, conversions, controllers, rbac, runnables, checks } = value as Partial<Record<keyof Operator, unknown>>
  const lists = [kinds, webhooks, conversions, controllers, rbac, runnables]
  return typeof name === 'string' && lists.every((part) => Array.isArray(part)) && areChecks(checks, '').length === 0
}

/** Returns the names of the CustomResourceDefinitions that need a conversion webhook. */
export function convertedDefinitions(operators: readonly Operator[]): readonly string[] {
  return operators.flatMap(({ conversions }) =>
    conversions.filter(({ spokes }) => spokes.size > 0).map(({ kind }) => groupResourceOf(kind)),
  )
}

/**
 * Rejects operators that cannot run in one process.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when two operators, controllers, runnables or health checks have the same name, when two
 * controllers of a type have the same finalizer, or when webhooks conflict.
 */
export function checkOperators(operators: readonly Operator[]): void {
  const problems = [
    ...duplicates(operators.map(({ name }) => name)).map((name) => `two operators are called "${name}"`),
    ...duplicates(operators.flatMap(({ controllers }) => controllers.map(({ name }) => name))).map(
      (name) => `two controllers are called "${name}"`,
    ),
    ...sameFinalizers(operators.flatMap(({ controllers }) => controllers)),
    ...sameNames(operators),
  ]
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `These operators cannot run together: ${problems.join('; ')}.`)
  combineWebhooks(operators.flatMap(({ webhooks }) => webhooks))
}

/**
 * Returns a problem for each finalizer that several controllers of the same resource type have. When the first of these controllers has
 * finalized an object, the first controller removes the finalizer. The API server can then delete the object before another controller
 * calls its `finalize`.
 */
function sameFinalizers(controllers: readonly ControllerDefinition[]): string[] {
  const withFinalizer = controllers.filter(({ finalizer }) => finalizer !== undefined)
  const idOf = ({ type, finalizer }: ControllerDefinition): string => `${groupResourceOf(type)} ${finalizer}`
  return duplicates(withFinalizer.map(idOf)).map((id) => {
    const same = withFinalizer.filter((controller) => idOf(controller) === id)
    const names = same.map(({ name }) => `"${name}"`).join(' and ')
    const { type, finalizer } = same[0]!
    return `the controllers ${names} have the same finalizer ${finalizer} for ${groupResourceOf(type)}, so only one of them would finalize an object: rename one`
  })
}

/**
 * Returns a problem for each duplicate name of a runnable, of a `healthz` check or of a `readyz` check. A `healthz` check and a `readyz`
 * check may have the same name.
 */
function sameNames(operators: readonly Pick<Operator, 'runnables' | 'checks'>[]): string[] {
  const named = (what: string, parts: readonly { readonly name: string }[]): string[] =>
    duplicates(parts.map(({ name }) => name)).map((name) => `two ${what} are called "${name}"`)
  return [
    ...named(
      'runnables',
      operators.flatMap(({ runnables }) => runnables),
    ),
    ...named(
      'checks of healthz',
      operators.flatMap(({ checks }) => checks.healthz),
    ),
    ...named(
      'checks of readyz',
      operators.flatMap(({ checks }) => checks.readyz),
    ),
  ]
}

function duplicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
