/** Settings of a webhook besides its handlers: when the API server calls it, and what happens when the call fails. */
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

/** Filters on requests, besides type, subresource and operations. Webhooks of one type with different filters need a `name`. */
export interface WebhookFilters {
  /**
   * CEL expressions over `object`, `oldObject`, `request` and `authorizer` that must all be true; at most 64. The API server evaluates them
   * before the call, so a request that they exclude causes no call. They are compiled when the webhook is defined.
   */
  readonly matchConditions?: readonly MatchCondition[]
  /** Matches the labels of the object or of the old object; one match suffices. A user who may set labels can bypass it. */
  readonly objectSelector?: LabelSelector
  /**
   * Matches the labels of the object's namespace, or those of a Namespace itself. Other cluster-scoped objects always match. Default: all
   * namespaces for a kind of your own; for other types all but `kube-system` and the namespace of the operator, whose Pods must be able to
   * start while the webhook is down. `{}` selects these, too.
   */
  readonly namespaceSelector?: LabelSelector
  /** Default: the scope of the type. */
  readonly scope?: 'Namespaced' | 'Cluster' | '*'
  /**
   * `Equivalent` (default): the webhook is also called for requests in other versions of the type, whose objects the API server converts to
   * this version. With `Exact` such requests bypass the webhook.
   */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
}

export interface WebhookSettings extends WebhookFilters {
  /**
   * Default: `CREATE` and `UPDATE`, and `DELETE` with a `validateDelete`; for a subresource the operation of its requests: `CONNECT` for
   * `exec`, `attach`, `portforward` and `proxy`, `CREATE` for `eviction`, `binding` and `token`, `UPDATE` for the others.
   */
  readonly operations?: readonly Operation[]
  /** Distinguishes webhooks of one type with different filters: each gets an entry and a path of its own. */
  readonly name?: string
  /**
   * Timeout of the API server's call in seconds, 1 to 30. Default 10. When several webhooks are combined into one entry, their longest
   * timeout applies.
   */
  readonly timeoutSeconds?: number
  /**
   * Reaction of the API server to a failed call. Default `Fail`. When several webhooks are combined into one entry, `Fail` takes
   * precedence.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /**
   * `NoneOnDryRun` for a webhook whose handlers write: they must check `context.dryRun`. Default `None`. The API server accepts no other
   * values.
   */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** `IfNeeded`: `default` is called again when a later webhook, also of another process, has changed the object. Default `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  /**
   * With true, the mutating webhook rejects an invalid object, with the errors of the schema and of the handlers together. With false, the
   * user first gets only the schema's errors, because the API server validates against the schema before it calls validating webhooks.
   * Default: true for a kind with a schema, unless one of several webhooks declares false; false for other types.
   */
  readonly refuseInvalidEarly?: boolean
  /** Types that `context.cache` reads: every replica watches them, and the RBAC rules for that are added. */
  readonly reads?: readonly ResourceType[]
  /** Indexes that the handlers pass to `context.cache.list`, on types in `reads`. */
  readonly indexes?: readonly CacheIndex[]
  /** RBAC rules that the handlers need. */
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

/** @throws {ProreusError} `PRO_CONFIG_INVALID` with all errors. */
export function checkSettings(type: ResourceType, subresource: string, settings: WebhookSettings): void {
  const { name, operations, timeoutSeconds, matchConditions = [], objectSelector, namespaceSelector, reads = [], indexes = [] } = settings
  const about = `${groupKindOf(type)}${subresource === '' ? '' : `/${subresource}`}`
  // Handlers may be methods of an instance, which has fields of its own.
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
  if (problems.length > 0)
    throw new ProreusError('PRO_CONFIG_INVALID', `The webhook for ${about} is not well defined: ${problems.join('; ')}.`)
}
