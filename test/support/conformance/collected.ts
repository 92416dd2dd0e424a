/** Waits for the garbage collector, which notices a new custom type only after a while. */
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { Client } from '../../../src/client/client.ts'
import { until } from '../../../src/testing/until.ts'
import { find } from '../devcluster/client.ts'

/**
 * Resolves when the garbage collector processes objects of a type. A custom type can be unknown to the garbage collector at first, because
 * kube-controller-manager looks for new types only every 30 s.
 *
 * @param object an object of the type. The function creates and deletes this object for the test.
 */
export async function untilCollected(
  client: Client,
  type: ResourceType,
  object: { readonly metadata: { readonly namespace: string; readonly name: string }; readonly spec: object },
): Promise<void> {
  const key = object.metadata
  // The policy Orphan adds a finalizer that only the garbage collector removes.
  await client.create(type, object as never)
  await client.delete(type, key, { propagationPolicy: 'Orphan' })
  await until('the garbage collector knows the type', async () => (await find(client, type, key)) === undefined, 90_000)
}
