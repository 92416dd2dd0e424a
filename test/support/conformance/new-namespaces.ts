/** Creates namespaces for conformance tests. Each case gets its own namespace, because cases run in parallel and do not delete their objects. */
import { core } from '../../../src/api/kubernetes/core.ts'
import type { Client } from '../../../src/client/client.ts'

export interface NamespacedKey {
  readonly namespace: string
  readonly name: string
}

/** Returns a function that creates a namespace. The function resolves to the new name: `conformance-NAME-1`, `conformance-NAME-2`, …. */
export function newNamespaces(client: Client, name: string): () => Promise<string> {
  let count = 0
  return async () => {
    count += 1
    const namespace = `conformance-${name}-${count}`
    await client.create(core.namespace, { metadata: { name: namespace } })
    return namespace
  }
}
