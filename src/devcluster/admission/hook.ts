/** One webhook of a stored MutatingWebhookConfiguration or ValidatingWebhookConfiguration, with defaults applied. */
import type { JsonObject } from '../../api/json.ts'
import type { LabelRequirement, LabelSelector } from '../../api/label-selector.ts'
import { requirementsOf } from '../../api/label-selector.ts'
import type { MatchConditionCompilation } from '../../cel/match-conditions.ts'
import { compileMatchCondition } from '../../cel/match-conditions.ts'

export interface HookRule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly scope?: string
}

/** The `clientConfig` of a webhook: its address and its caBundle. */
export interface HookClientConfig {
  readonly url?: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number }
  /** The CA certificates as base64-encoded PEM. If `caBundle` is undefined, the CAs of the operating system are used. */
  readonly caBundle?: string
}

export interface Hook {
  /** Unique key of the webhook: `CONFIGURATION/NAME/INDEX`. */
  readonly key: string
  readonly name: string
  readonly clientConfig: HookClientConfig
  readonly rules: readonly HookRule[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchPolicy: 'Exact' | 'Equivalent'
  readonly namespaceSelector: readonly LabelRequirement[]
  readonly objectSelector: readonly LabelRequirement[]
  readonly matchConditions: readonly MatchConditionCompilation[]
  readonly sideEffects: string | undefined
  readonly timeoutSeconds: number
  readonly admissionReviewVersions: readonly string[]
  readonly reinvocationPolicy: 'Never' | 'IfNeeded'
}

/** A webhook in a stored webhook configuration. `hookOf` applies the defaults of the absent fields. */
interface WebhookEntry {
  readonly name: string
  readonly clientConfig: HookClientConfig
  readonly rules?: readonly HookRule[]
  readonly failurePolicy?: Hook['failurePolicy']
  readonly matchPolicy?: Hook['matchPolicy']
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly { readonly expression: string }[]
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
  readonly reinvocationPolicy?: Hook['reinvocationPolicy']
}

interface WebhookConfiguration {
  readonly metadata: { readonly name: string }
  readonly webhooks?: readonly WebhookEntry[]
}

/**
 * Returns the webhooks of all configurations in the order in which kube-apiserver calls them: by the name of the configuration, and by
 * index within a configuration.
 */
export function hooksOf(configurations: readonly JsonObject[]): readonly Hook[] {
  const sorted = (configurations as unknown as readonly WebhookConfiguration[]).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  )
  return sorted.flatMap((configuration) =>
    (configuration.webhooks ?? []).map((entry, index) => hookOf(configuration.metadata.name, index, entry)),
  )
}

function hookOf(configuration: string, index: number, entry: WebhookEntry): Hook {
  return {
    key: `${configuration}/${entry.name}/${index}`,
    name: entry.name,
    clientConfig: entry.clientConfig,
    rules: entry.rules ?? [],
    failurePolicy: entry.failurePolicy ?? 'Fail',
    matchPolicy: entry.matchPolicy ?? 'Equivalent',
    namespaceSelector: requirementsOf(entry.namespaceSelector ?? {}),
    objectSelector: requirementsOf(entry.objectSelector ?? {}),
    matchConditions: (entry.matchConditions ?? []).map(({ expression }) => compileMatchCondition(expression)),
    sideEffects: entry.sideEffects,
    timeoutSeconds: entry.timeoutSeconds ?? 10,
    admissionReviewVersions: entry.admissionReviewVersions ?? [],
    reinvocationPolicy: entry.reinvocationPolicy ?? 'Never',
  }
}
