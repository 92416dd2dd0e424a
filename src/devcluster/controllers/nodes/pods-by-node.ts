/** An index of Pods by the node to which they are bound. */
import { pod as podType } from '../../../api/builtin.ts'
import { defineCacheIndex } from '../../../cache/cache-index.ts'

/** The index key of Pods that are not bound. No node has an empty name. */
export const unbound = ''

export const podsByNode = defineCacheIndex(podType, 'node', ({ spec }) => spec?.nodeName ?? unbound)
