/** The state of a cluster that the strategies of types can read. */
import type { JsonObject } from '../../../src/api/json.ts'
import type { ClusterView } from '../../../src/devcluster/rest/strategy.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

/** Returns a cluster whose method `list` returns `objects` for every type. */
export function clusterWith(objects: readonly JsonObject[] = []): ClusterView {
  const clock = new FakeClock()
  return { get: () => undefined, list: () => objects, hasServiceAccounts: false, randomSuffix: () => 'abcde', clock }
}
