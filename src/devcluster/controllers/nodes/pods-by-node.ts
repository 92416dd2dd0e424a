/** An index of Pods by the node to which they are bound. */
import { pod as podType } from '../../../api/builtin.ts'
import { defineCacheIndex } from '../../../cache/cache-index.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { MapContext } from '../../../controller/enqueue.ts'
import type { ReadonlyNode } from '../api-types.ts'

/** The index key of Pods that are not bound to a node. The name of a node is never empty, so no node has this key. */
export const unbound = ''

export const podsByNode = defineCacheIndex(podType, 'node', ({ spec }) => spec?.nodeName ?? unbound)

/** Maps a node to the Pods that are bound to it. */
export function podsOfNode({ metadata }: ReadonlyNode, { cache }: MapContext): readonly ObjectKey[] {
  return cache.list(podType, { index: [podsByNode, metadata.name] }).map((pod) => pod.metadata)
}
