/** Creates the webhook configurations of operators. */
import type { JsonObject, JsonValue } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { InstallationNames } from '../manager/installation-names.ts'
import { labelsOf } from '../manager/installation-names.ts'
import type { Operator } from '../manager/operator.ts'
import type { CombinedWebhook } from '../webhook/definition/combine.ts'
import { combineWebhooks } from '../webhook/definition/combine.ts'
import { schemaKindOf } from '../webhook/definition/definition.ts'

/**
 * The address at which the API server reaches the webhook server. A webhook server in the cluster has a Service. A webhook server outside
 * the cluster has a URL.
 */
export type WebhookTarget =
  { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } } | { readonly url: string }

/**
 * Returns a mutating and a validating webhook configuration; an empty list when the operators have no webhooks.
 *
 * - If the operators have only mutating or only validating webhooks, the other configuration has no entries. When a user applies this
 *   configuration, the entries of an earlier installation are removed.
 * - A webhook for a kind of the operators has one entry for each served version. A webhook for any other type, or for a subresource, has
 *   one entry.
 * - The entries have no `caBundle`, because a `caBundle` in the manifest would overwrite the value that the running process or cert-manager
 *   sets.
 */
export function webhookConfigurations(operators: readonly Operator[], target: WebhookTarget, names: InstallationNames): JsonObject[] {
  const webhooks = combineWebhooks(operators.flatMap((operator) => operator.webhooks))
  if (webhooks.length === 0) return []
  const configuration = (kind: string, name: string, entries: JsonObject[]): JsonObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name, labels: labelsOf(names.installation) },
    webhooks: entries,
  })
  return [
    configuration('MutatingWebhookConfiguration', names.mutatingConfiguration, entriesOf(webhooks, target, names, 'mutating')),
    configuration('ValidatingWebhookConfiguration', names.validatingConfiguration, entriesOf(webhooks, target, names, 'validating')),
  ]
}

function entriesOf(
  webhooks: readonly CombinedWebhook[],
  target: WebhookTarget,
  names: InstallationNames,
  phase: 'mutating' | 'validating',
): JsonObject[] {
  return webhooks
    .filter((webhook) => webhook[phase].operations.length > 0)
    .map((webhook): JsonObject => {
      const { timeoutSeconds, failurePolicy, sideEffects, reinvocationPolicy } = webhook
      const { path, operations } = webhook[phase]
      const { matchPolicy, objectSelector, matchConditions } = webhook.filters
      const namespaceSelector = namespaceSelectorOf(webhook, target, names)
      return {
        name: nameOf(webhook, phase === 'mutating' ? 'mutate' : 'validate', names),
        clientConfig: clientConfig(target, path),
        rules: [{ ...resourcesOf(webhook), operations: [...operations], scope: scopeOf(webhook) }],
        admissionReviewVersions: ['v1'],
        sideEffects,
        failurePolicy,
        timeoutSeconds,
        ...(matchPolicy !== undefined && { matchPolicy }),
        ...(phase === 'mutating' && reinvocationPolicy !== undefined && { reinvocationPolicy }),
        ...(namespaceSelector !== undefined && { namespaceSelector: asJson(namespaceSelector) }),
        ...(objectSelector !== undefined && { objectSelector: asJson(objectSelector) }),
        ...(matchConditions !== undefined && { matchConditions: asJson(matchConditions) }),
      }
    })
}

/**
 * Returns the name of a webhook in the configuration, for example `validate-pod-v1.core.NAME`. The API server requires a DNS name with at
 * least three labels. A group without a dot, such as `apps`, is only one label, so the name of the installation (`NAME`) is appended.
 */
function nameOf({ type, schemaKind, version, subresource, name }: CombinedWebhook, verb: string, names: InstallationNames): string {
  const { group, kind, plural } = type
  const isAny = kind === '*'
  const what = isAny ? 'any' : (schemaKind?.singular ?? kind.toLowerCase())
  const entry = [verb, what, subresource, isAny ? '' : version].filter((part) => part !== '').join('-')
  const domain = group.includes('.') ? group : `${group === '' ? 'core' : plural === '*' ? 'any' : group}.${names.installation}`
  return `${name === '' ? '' : `${name}.`}${entry}.${domain}`
}

function resourcesOf({ type, version, subresource }: CombinedWebhook): JsonObject {
  const resource = subresource === '' ? type.plural : `${type.plural}/${subresource}`
  return { apiGroups: [type.group], apiVersions: [type.plural === '*' ? '*' : version], resources: [resource] }
}

function scopeOf({ type, filters }: CombinedWebhook): string {
  return filters.scope ?? (type.plural === '*' ? '*' : type.namespaced ? 'Namespaced' : 'Cluster')
}

/**
 * Returns the `namespaceSelector` of a webhook. The defaults are:
 *
 * - A webhook for a kind of an operator excludes no namespace. Otherwise, users could bypass the validation in an excluded namespace.
 * - Any other webhook excludes `kube-system` and the namespace of the webhook server. Otherwise, the Pods of the webhook server could not
 *   start while the webhook server is down.
 */
function namespaceSelectorOf(
  { type, filters }: CombinedWebhook,
  target: WebhookTarget,
  names: InstallationNames,
): LabelSelector | undefined {
  if (filters.namespaceSelector !== undefined || schemaKindOf(type) !== undefined) return filters.namespaceSelector
  const own = 'service' in target ? target.service.namespace : names.namespace
  return { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', own] }] }
}

/** Returns a deep copy, because several manifests contain the value, and callers may change a manifest. */
function asJson(value: object): JsonValue {
  return structuredClone(value) as JsonValue
}

export function clientConfig(target: WebhookTarget, path: string): JsonObject {
  if ('url' in target) return { url: target.url.replace(/\/$/, '') + path }
  const { namespace, name, port } = target.service
  return { service: { namespace, name, path, ...(port !== undefined && { port }) } }
}
