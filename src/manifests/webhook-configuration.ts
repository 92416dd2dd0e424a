/** The webhook configurations that make the API server ask this process. */
import type { JsonObject } from '../api/json.ts'
import { mutatingName, validatingName } from '../manager/names.ts'
import type { Operator } from '../manager/operator.ts'
import type { WebhookDefinition } from '../webhook/definition.ts'
import { mutatePath, validatePath } from '../webhook/paths.ts'

/** How the API server reaches the webhook server: through its Service in the cluster, or at a URL outside it. */
export type WebhookTarget =
  { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } } | { readonly url: string }

/**
 * A mutating and a validating configuration with one entry for each served version of each kind.
 * They carry no `caBundle`: the running process (or cert-manager) keeps it, and a manifest that had one would undo that.
 */
export function webhookConfigurations(operators: readonly Operator[], target: WebhookTarget): JsonObject[] {
  const webhooks = operators.flatMap((operator) => operator.webhooks)
  if (webhooks.length === 0) return []
  const configuration = (kind: string, name: string, entries: JsonObject[]): JsonObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: entries,
  })
  return [
    configuration('MutatingWebhookConfiguration', mutatingName, entriesOf(webhooks, target, 'mutate', mutatePath)),
    configuration('ValidatingWebhookConfiguration', validatingName, entriesOf(webhooks, target, 'validate', validatePath)),
  ]
}

function entriesOf(webhooks: readonly WebhookDefinition[], target: WebhookTarget, verb: string, pathOf: typeof mutatePath): JsonObject[] {
  return webhooks.flatMap(({ kind, operations, timeoutSeconds, failurePolicy }) =>
    kind.versions
      .filter(({ served }) => served)
      .map(({ name: version }): JsonObject => ({
        name: `${verb}-${kind.singular}-${version}.${kind.group}`,
        clientConfig: clientConfig(target, pathOf({ group: kind.group, version, kind: kind.kind })),
        rules: [
          {
            apiGroups: [kind.group],
            apiVersions: [version],
            resources: [kind.plural],
            operations: [...operations],
            scope: kind.namespaced ? 'Namespaced' : 'Cluster',
          },
        ],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy,
        timeoutSeconds,
      })),
  )
}

export function clientConfig(target: WebhookTarget, path: string): JsonObject {
  if ('url' in target) return { url: target.url.replace(/\/$/, '') + path }
  const { namespace, name, port } = target.service
  return { service: { namespace, name, path, ...(port !== undefined && { port }) } }
}
