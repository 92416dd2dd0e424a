/** Creates the CustomResourceDefinition of a kind. */
import type { JsonObject } from '../api/json.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import type { Kind, KindVersion } from '../api/kind.ts'
import { schemaOf } from '../schema/kind-schema.ts'
import { conversionPath } from '../webhook/definition/paths.ts'
import type { WebhookTarget } from './webhook-configuration.ts'
import { clientConfig } from './webhook-configuration.ts'

/**
 * Returns the CRD of a kind for `kubectl apply`, without fields that the API server sets.
 *
 * @param target the address of the kind's conversion webhook. Without `target`, a conversion changes only the apiVersion (strategy `None`).
 * @throws {ProreusError} `PRO_SCHEMA_INVALID` when the API server would reject a schema of the kind, e.g. because a rule is invalid.
 */
export function crdOf(kind: Kind, target?: WebhookTarget): JsonObject {
  for (const { name } of kind.versions) schemaOf(kind, name)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: groupResourceOf(kind) },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length > 0 && { shortNames: [...kind.shortNames] }),
        ...(kind.categories.length > 0 && { categories: [...kind.categories] }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      versions: kind.versions.map(versionOf),
      ...(target && { conversion: webhookConversion(target) }),
    },
  }
}

/** Returns `spec.conversion` with the conversion webhook. The result has no `caBundle`, because the running process sets this field. */
export function webhookConversion(target: WebhookTarget) {
  return {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfig(target, conversionPath) },
  }
}

function versionOf(version: KindVersion): JsonObject {
  const subresources: JsonObject = {
    ...(version.hasStatus && { status: {} }),
    ...(version.scale && { scale: { ...version.scale } }),
  }
  return {
    name: version.name,
    served: version.served,
    storage: version.storage,
    ...(version.deprecationWarning !== undefined && { deprecated: true, deprecationWarning: version.deprecationWarning }),
    schema: { openAPIV3Schema: version.schema as JsonObject },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(version.printerColumns.length > 0 && {
      additionalPrinterColumns: version.printerColumns.map((column) => ({ type: 'string', ...column })),
    }),
  }
}
