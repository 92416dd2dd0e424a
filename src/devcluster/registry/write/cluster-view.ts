/**
 * `clusterView`: returns a view of the cluster. The functions of a resource type receive this view, for example `admit` and
 * `prepareForCreate` of its `Strategy`. The view contains all stored objects, in their storage versions.
 */
import type { JsonObject } from '../../../api/json.ts'
import type { ClusterView } from '../../rest/strategy.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { Environment } from '../environment.ts'

export function clusterView(
  { store, clock, randomSuffix, hasServiceAccounts }: Environment,
  { storageKey: type }: ResourceInfo,
): ClusterView {
  return {
    get: (storageKey, key) => store.get(storageKey, key),
    list(storageKey, namespace) {
      const { keys, get } = store.snapshot(storageKey, namespace)
      return keys.map((key) => get(key) as JsonObject)
    },
    hasServiceAccounts,
    randomSuffix: () => randomSuffix(type),
    clock,
  }
}
