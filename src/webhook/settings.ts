/** What is declared beside handlers: when the API server asks them, and what it does without an answer. */
import { ProreusError } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { ResourceType } from '../api/group-version-kind.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import { isLabelSelector, selectorProblems } from '../api/label-selector.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnything, isBoolean, isFunction, isListOf, isOneOf, isResourceType, isText } from '../api/option-checks.ts'
import { dns1035Label, dns1123Label } from '../api/names.ts'
import type { PolicyRule } from '../api/policy-rule.ts'
import { isPolicyRule } from '../api/policy-rule.ts'
import type { CacheIndex } from '../cache/cache-index.ts'
import { indexProblems, isCacheIndex } from '../cache/cache-index.ts'
import type { Operation } from './context.ts'
import type { MatchCondition } from './match-condition.ts'
import { matchConditionProblems } from './match-condition.ts'

/**
 * Which requests the API server sends to a webhook, of those that its type, subresource and operations select.
 * Handlers of one type that differ in one of these give themselves a `name`.
 */
export interface WebhookFilters {
  /**
   * CEL expressions about `object`, `oldObject`, `request` and `authorizer`, that must all be true; up to 64. The API server evaluates
   * them before it asks, so that what they rule out costs no call. Checked when the webhook is defined.
   */
  readonly matchConditions?: readonly MatchCondition[]
  /** By the labels of the object or of the one before; where either fits, the webhook is asked. Whoever may set labels may get around it. */
  readonly objectSelector?: LabelSelector
  /**
   * By the labels of the object's namespace; of a Namespace by its own. Other cluster-scoped objects are always selected.
   * Default: all for a kind of one's own. For other types all but `kube-system` and the namespace of the operator, which must be able to
   * start while nobody answers; `{}` selects these as well.
   */
  readonly namespaceSelector?: LabelSelector
  /** Default: that of the type. */
  readonly scope?: 'Namespaced' | 'Cluster' | '*'
  /**
   * `Equivalent` (default): also asked about requests through other versions of the type, converted to this one.
   * `Exact` lets these through unseen.
   */
  readonly matchPolicy?: 'Exact' | 'Equivalent'
}

export interface WebhookSettings extends WebhookFilters {
  /**
   * Default: `CREATE` and `UPDATE`, and `DELETE` when there is a `validateDelete`; for a subresource the one with which it is requested:
   * `CONNECT` for `exec`, `attach`, `portforward` and `proxy`, `CREATE` for `eviction`, `binding` and `token`, `UPDATE` for the others.
   */
  readonly operations?: readonly Operation[]
  /** Tells apart webhooks of one type that are not asked about the same requests: each gets an entry and a path of its own. */
  readonly name?: string
  /** How long the API server waits for an answer, 1 to 30. Default 10. Of several handlers in one entry the longest counts. */
  readonly timeoutSeconds?: number
  /** What the API server does when it gets no answer. Default `Fail`, which also counts where only one of several handlers wants it. */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** `NoneOnDryRun` for handlers that write: they must look at `context.dryRun`. Default `None`. The API server takes no others. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun'
  /** `IfNeeded`: `default` is asked again when a later webhook, also another process', has changed the object. Default `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
  /**
   * The mutating webhook refuses an invalid object at once, with the schema's errors and the kind's own.
   * The API server runs the schema before validating webhooks; those alone could never show both kinds of errors in the same way.
   * Default true for a kind with a schema, unless one of several handlers says false; for other types false.
   */
  readonly refuseInvalidEarly?: boolean
  /** Types that `context.cache` reads: each replica watches them, and the rules for that are added. */
  readonly reads?: readonly ResourceType[]
  /** What the handlers list by: indexes of types in `reads`. */
  readonly indexes?: readonly CacheIndex[]
  /** What the handlers need to be allowed to do. */
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

/** @throws {ProreusError} `PRO_CONFIG_INVALID` with all that is wrong. */
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
