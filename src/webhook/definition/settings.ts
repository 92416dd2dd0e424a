/** The settings of a webhook: when the API server calls the webhook, and what happens when the call fails. */
import { ProreusError } from '../../api/errors.ts'
import { groupKindOf } from '../../api/group-version-kind.ts'
import type { ResourceType } from '../../api/group-version-kind.ts'
import type { LabelSelector } from '../../api/label-selector.ts'
import { isLabelSelector, selectorProblems } from '../../api/label-selector.ts'
import type { OptionCheck } from '../../api/option-checks.ts'
import { hasOptions, isAnything, isBoolean, isFunction, isListOf, isOneOf, isResourceType, isText } from '../../api/option-checks.ts'
import { dns1035Label, dns1123Label } from '../../api/name-syntax.ts'
import type { PolicyRule } from '../../api/policy-rule.ts'
import { isPolicyRule } from '../../api/policy-rule.ts'
import type { CacheIndex } from '../../cache/cache-index.ts'
import { indexProblems, isCacheIndex } from '../../cache/cache-index.ts'
import type { Operation } from './context.ts'
import type { MatchCondition } from './match-condition.ts'
import { matchConditionProblems } from './match-condition.ts'

/**
 * Filters for requests, in addition to the type, the subresource and the operations. If webhooks for one type have different filters, they
 * need a `name`.
 */
export interface WebhookFilters {
  /**
   * At most 64 CEL expressions. The API server calls the webhook only if all expressions are true for the request. The expressions can use
   * `object`, `oldObject`, `request` and `authorizer`. They are compiled when the webhook is defined.
   */
  readonly matchConditions?: readonly MatchCondition[]
  /**
   * Selects requests by the labels of the object and of the old object. A request is selected if the labels of one of the two objects
   * match. A user who may set labels can bypass the webhook.
   */
  readonly objectSelector?: LabelSelector
  /**
   * Selects requests by the labels of the object's namespace. For a Namespace object, its own labels are used. Other cluster-scoped objects
   * always match. `{}` selects all namespaces. Default:
   *
   * - For kinds that you define: all namespaces.
   * - For other types: all namespaces except `kube-system` and the namespace of the operator. Pods can therefore start in these two
   *   namespaces while the webhook is down.
   */
  readonly namespaceSelector?: LabelSelector
  /** The scope of the objects for which the webhook is called. Default: the scope of the type. */
  readonly scope?: 'Namespaced' | 'Cluster' | '*'
  /**
   * `Equivalent` (default): if a request has another version of the type than the rules of the webhook, the API server converts the object
   * to the version in the rules and calls the webhook. `Exact`: such a request bypasses the webhook.
   */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
}

export interface WebhookSettings extends WebhookFilters {
  /**
   * The operations for which the webhook is called. Default for the objects of a type:
   * - `CREATE` and `UPDATE` if the type has a schema, or the webhook has a handler other than `validateDelete`
   * - `DELETE` if the webhook has the handler `validateDelete`
   *
   * Default for a subresource:
   * - `CONNECT` for `exec`, `attach`, `portforward` and `proxy`
   * - `CREATE` for `eviction`, `binding` and `token`
   * - `UPDATE` for all other subresources
   */
  readonly operations?: readonly Operation[]
  /**
   * Distinguishes webhooks for the same type or subresource. All webhooks with the same name share an entry in the webhook configuration,
   * and must have the same filters. The same applies to all webhooks without a name. Webhooks with different names have separate entries
   * with separate paths. Default: no name.
   */
  readonly name?: string
  /**
   * The API server's timeout for calls of the webhook in seconds, from 1 to 30. Default 10. If several webhooks are combined into one entry
   * of the webhook configuration, the longest timeout applies.
   */
  readonly timeoutSeconds?: number
  /**
   * The API server's reaction when the call of the webhook fails. `Fail` (default) rejects the request, and `Ignore` allows the request. If
   * several webhooks are combined into one entry of the webhook configuration, `Ignore` applies only if all these webhooks set `Ignore`.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /**
   * Must be `NoneOnDryRun` if a handler of the webhook writes objects or has other side effects. Such a handler must have no side effects
   * when `context.dryRun` is true. Default `None`. The API server accepts no other values.
   */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /**
   * `IfNeeded`: if a later webhook has changed the object, the API server calls the mutating webhook again, and the handler `default` is
   * called again. Default `Never`.
   */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  /**
   * True if the mutating webhook rejects invalid objects. Default: true for a kind with a schema, false for other types. If several
   * webhooks are combined and one of them sets false, false applies to all of them.
   *
   * - True: the user gets the errors of the schema and of the handlers together.
   * - False: the API server validates the object with the schema before it calls the validating webhook. If the object violates the schema,
   *   the user gets only the errors of the schema.
   */
  readonly refuseInvalidEarly?: boolean
  /**
   * The types that handlers read from `context.cache`. Every replica watches them. `proreus generate` adds the RBAC rules for these
   * watches.
   */
  readonly reads?: readonly ResourceType[]
  /** The indexes that handlers pass to `context.cache.list`. Their types must be in `reads`. */
  readonly indexes?: readonly CacheIndex[]
  /** The RBAC rules that the handlers require. */
  readonly rbac?: readonly PolicyRule[]
}

const settingsChecks = {
  matchConditions: isListOf(hasOptions({ name: isText, expression: isText }, ['name', 'expression'])),
  objectSelector: isLabelSelector,
  namespaceSelector: isLabelSelector,
  scope: isOneOf('Namespaced', 'Cluster', '*'),
  matchPolicy: isOneOf('Exact', 'Equivalent'),
  operations: isListOf(isOneOf('CREATE', 'UPDATE', 'DELETE', 'CONNECT')),
  name: isText,
  timeoutSeconds: isAnything,
  failurePolicy: isOneOf('Fail', 'Ignore'),
  sideEffects: isOneOf('None', 'NoneOnDryRun'),
  reinvocationPolicy: isOneOf('Never', 'IfNeeded'),
  refuseInvalidEarly: isBoolean,
  reads: isListOf(isResourceType),
  indexes: isListOf(isCacheIndex),
  rbac: isListOf(isPolicyRule),
} satisfies Record<keyof WebhookSettings, OptionCheck>
const handlerChecks = { default: isFunction, validate: isFunction, validateInCluster: isFunction, validateDelete: isFunction }
const webhookChecks = { ...settingsChecks, ...handlerChecks, subresource: isText }
const checkWebhook = hasOptions(webhookChecks)
const checkInstance = hasOptions(webhookChecks, [], { mayHaveOthers: true })

/**
 * Validates the settings of a webhook.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all errors.
 */
export function checkSettings(type: ResourceType, subresource: string, settings: WebhookSettings): void {
  const { name, operations, timeoutSeconds, matchConditions = [], objectSelector, namespaceSelector, reads = [], indexes = [] } = settings
  const about = `${groupKindOf(type)}${subresource === '' ? '' : `/${subresource}`}`
  // A webhook may be an instance of a class whose methods are the handlers. Such an instance may have additional fields that are not
  // options of a webhook.
  const check = Object.getPrototypeOf(settings) === Object.prototype ? checkWebhook : checkInstance
  refuseWebhook(about, check(settings, ''))
  const problems = [
    ...(subresource === '' ? [] : dns1035Label(subresource).map((message) => `subresource: ${message}`)),
    ...(name === undefined ? [] : dns1123Label(name).map((message) => `name: ${message}`)),
    ...(operations?.length === 0 ? ['operations: must name one at least'] : []),
    ...(timeoutSeconds === undefined || (Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)
      ? []
      : [`timeoutSeconds: must be a whole number from 1 to 30, found ${timeoutSeconds}`]),
    ...selectorProblems(objectSelector ?? {}).map((problem) => `objectSelector.${problem}`),
    ...selectorProblems(namespaceSelector ?? {}).map((problem) => `namespaceSelector.${problem}`),
    ...matchConditionProblems(matchConditions),
    ...indexProblems(indexes, reads, 'name it in `reads`'),
  ]
  refuseWebhook(about, problems)
}

function refuseWebhook(about: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_CONFIG_INVALID', `The webhook for ${about} is invalid: ${problems.join('; ')}.`)
}
