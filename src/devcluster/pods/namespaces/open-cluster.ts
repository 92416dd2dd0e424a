/**
 * Creates the Linux namespaces in which the Pods of the embedded cluster run. Tries the mappings of user and group ids in order, the best
 * mapping first, and uses the first mapping with which the namespaces can be created.
 */
import { ClusterSandbox } from './cluster-sandbox.ts'
import type { IdMapping } from './id-mapping.ts'
import { idMappings } from './id-mapping.ts'

export interface OpenedCluster {
  /** Absent when the namespaces could not be created with any mapping. */
  readonly cluster?: ClusterSandbox
  /**
   * The mappings with which the namespaces could not be created, each with its error. `openCluster` tries the mappings in order and stops
   * at the first success.
   */
  readonly failures: readonly { readonly kind: IdMapping['kind']; readonly error: Error }[]
}

export interface OpenClusterOptions {
  readonly bridgeAddress: string
  readonly temporaryDirectory: string
}

export async function openCluster(options: OpenClusterOptions): Promise<OpenedCluster> {
  const failures: { kind: IdMapping['kind']; error: Error }[] = []
  for (const ids of await idMappings()) {
    try {
      return { cluster: await ClusterSandbox.open({ ...options, ids }), failures }
    } catch (error) {
      failures.push({ kind: ids.kind, error: error as Error })
    }
  }
  return { failures }
}
