/** The state of the cluster that built-in admission plugins can read: all stored objects, in their storage versions. */
import type { JsonObject } from '../../../api/json.ts'
import type { ClusterView } from '../../rest/strategy.ts'
import type { Environment } from '../environment.ts'

export function clusterView({ store, clock, randomSuffix, hasServiceAccounts }: Environment): ClusterView {
  return {
    get: (storageKey, key) => store.get(storageKey, key),
    list(storageKey, namespace) {
      const { keys, get } = store.snapshot(storageKey, namespace)
      return keys.map((key) => get(key) as JsonObject)
    },
    hasServiceAccounts,
    randomSuffix,
    clock,
  }
}
