/** `clusterWith`: creates a `ClusterView` for tests. The functions of a `Strategy` read the state of the cluster from the `ClusterView`. */
import type { JsonObject } from '../../../src/api/json.ts'
import type { ClusterView } from '../../../src/devcluster/rest/strategy.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

/** Returns a cluster whose method `list` returns `objects` for every type. */
export function clusterWith(objects: readonly JsonObject[] = []): ClusterView {
  const clock = new FakeClock()
  return { get: () => undefined, list: () => objects, hasServiceAccounts: false, randomSuffix: () => 'abcde', clock }
}
