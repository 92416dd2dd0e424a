/** `untilPodIsReady`: waits for a Pod. */
import type { Pod } from '../../../src/api/builtin.ts'
import { pod } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'
import { until } from '../../../src/testing/until.ts'
import type { NamespacedKey } from './new-namespaces.ts'

/** Resolves with the Pod when its condition `Ready` is true. */
export function untilPodIsReady(client: Pick<Client, 'get'>, key: NamespacedKey): Promise<Pod> {
  return until(`the Pod ${key.name} is ready`, async () => {
    const found = await client.get(pod, key)
    return found.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && found
  })
}
