/** Predicates: filters for events. */
import type { DeepReadonly } from '../api/json.ts'
import type { LabelSelector } from '../api/label-selector.ts'
import type { KubernetesObject } from '../api/object.ts'
import { jsonEqual } from '../api/json.ts'
import { checkedRequirements, matchesLabels } from '../api/label-selector.ts'

/** A change of an object. */
export type ObjectEvent<T extends KubernetesObject = KubernetesObject> =
  | {
      readonly type: 'added'
      readonly object: DeepReadonly<T>
      /** True when the object existed before the watch began. */ readonly initial: boolean
    }
  | { readonly type: 'updated'; readonly object: DeepReadonly<T>; readonly old: DeepReadonly<T> }
  | { readonly type: 'deleted'; readonly object: DeepReadonly<T> }

/**
 * Returns true when the event counts. Declared as a method, so that a predicate for Pods is assignable where the type of the objects is
 * unknown.
 */
export type Predicate<T extends KubernetesObject = KubernetesObject> = { test(event: ObjectEvent<T>): boolean }['test']

/** Filters updates by `changed`; other events always count. */
function onUpdate(changed: (object: DeepReadonly<KubernetesObject>, old: DeepReadonly<KubernetesObject>) => boolean): Predicate {
  return (event) => event.type !== 'updated' || changed(event.object, event.old)
}

/** Updates count when the spec has changed, as opposed to status or metadata. Objects without a generation always count. */
export const generationChanged: Predicate = onUpdate(
  ({ metadata }, old) => metadata.generation === undefined || metadata.generation !== old.metadata.generation,
)

/** Updates count when labels have changed. */
export const labelsChanged: Predicate = onUpdate((object, old) => !jsonEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {}))

/** Updates count when annotations have changed. */
export const annotationsChanged: Predicate = onUpdate(
  (object, old) => !jsonEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
)

/**
 * Objects count that match a selector, e.g. `{ matchLabels: { app: 'web' } }`. An update also counts when the old object matched, so that
 * the controller sees objects that no longer match.
 *
 * @throws {ProreusError} `PRO_INPUT` when the selector is invalid.
 */
export function labelSelector(selector: LabelSelector): Predicate {
  const requirements = checkedRequirements(selector)
  const selected = (object: DeepReadonly<KubernetesObject>): boolean => matchesLabels(requirements, object.metadata.labels)
  return (event) => selected(event.object) || (event.type === 'updated' && selected(event.old))
}

/** All predicates must return true. */
export function and<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event))
}

/** At least one predicate must return true. */
export function or<T extends KubernetesObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event))
}

export function not<T extends KubernetesObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event)
}
