/**
 * `ObjectEvent`: a change of an object in the cache. Predicates receive such events. The listeners of a `CacheLease` (see `onChange`) also
 * receive such events.
 */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'

/** A change of an object, as an informer reports it. */
export type ObjectEvent<T extends KubernetesObject = KubernetesObject> =
  | {
      readonly type: 'added'
      readonly object: DeepReadonly<T>
      /** True when the object existed before the listener was added, or before the cache had synced. */
      readonly initial: boolean
    }
  | { readonly type: 'updated'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'deleted'; readonly object: DeepReadonly<T> }
